/// A share of the calls within a window, which counts only if there were enough calls.
package struct CallShare: Hashable, Sendable, CustomStringConvertible {
    var share: Double
    var minimumCalls: Int

    /// Whether the counted calls reach the share.
    ///
    /// Compares the quotient: the product `share * calls` misses two of a hundred shares that were just reached.
    func isReached(by counted: WindowCount) -> Bool {
        counted.calls > 0 && counted.calls >= self.minimumCalls
            && Double(counted.bad) / Double(counted.calls) >= self.share
    }

    package var description: String { "\(Self.percent(self.share)) of at least \(self.minimumCalls) calls" }

    /// A share for people: `50 %`, `0.5 %`.
    package static func percent(_ share: Double) -> String {
        let tenths = (share * 1_000).rounded()
        guard share.isFinite, tenths >= 1, tenths < 1e15 else { return "\(share * 100) %" }
        let (whole, rest) = Int64(tenths).quotientAndRemainder(dividingBy: 10)
        return rest == 0 ? "\(whole) %" : "\(whole).\(rest) %"
    }
}

/// How many calls ended within a window, and how many of them were bad.
struct WindowCount: Hashable, Sendable {
    var calls: Int64
    var bad: Int64
}
