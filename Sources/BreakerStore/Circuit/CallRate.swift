/// The threshold of a failure-rate or slow-call rule: a part of the calls within a window, and the minimum of calls.
package struct CallRate: Hashable, Sendable, CustomStringConvertible {
    var share: Double
    var minimumCalls: Int

    /// Whether the counted calls reach the rate.
    ///
    /// Compares the quotient: the product `share * calls` would miss two of a hundred rates that are met exactly.
    func isReached(by counted: WindowCount) -> Bool {
        counted.calls > 0 && counted.calls >= self.minimumCalls
            && Double(counted.bad) / Double(counted.calls) >= self.share
    }

    package var description: String { "\(Self.percent(self.share)) of at least \(self.minimumCalls) calls" }

    /// A rate for people: `50 %`, `0.5 %`.
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
