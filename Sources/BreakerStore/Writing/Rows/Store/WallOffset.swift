#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The distance from the uptime to the wall clock, in microseconds, by which stamps become dates.
///
/// No process can read both clocks at one instant, so the measured distance differs a little each time and in each
/// process. Dates must not differ.
final class WallOffset: Sendable {
    private struct Kept {
        var measured: Int64
        /// The Unix second at which the uptime was zero: the kernel's, or else the measured one.
        var second: Int64

        /// How much the measured distance may vary, in microseconds, although no operator has set the wall clock.
        private static let tolerance: Int64 = 1_000

        func holds(_ measured: Int64) -> Bool {
            (-Self.tolerance...Self.tolerance).contains(measured.subtractingSaturating(self.measured))
        }
    }

    private static let tries = 5
    private static let microsecondsInASecond: Int64 = 1_000_000

    private let host: any HostClock
    private let uptime: Uptime
    private let kept = ForkSafe<Kept?>(nil)

    init(_ host: any HostClock) {
        self.host = host
        self.uptime = Uptime(host)
    }

    /// The distance, measured now.
    var measured: Int64 {
        var best: (distance: Int64, width: Int64)?
        for _ in 0..<Self.tries {
            let before = self.uptime.now
            let wall = Int64(saturating: (self.host.wallTime.timeIntervalSince1970 * 1_000_000).rounded())
            let width = self.uptime.now.subtractingSaturating(before)
            let distance = wall.subtractingSaturating(before.addingSaturating(width / 2))
            if width < best?.width ?? .max { best = (distance, width) }
            // The thread was not interrupted between the two readings.
            if width <= 2 { break }
        }
        return best?.distance ?? 0
    }

    /// How far dates are ahead of store time, in microseconds; store time is the uptime plus `offset`.
    ///
    /// Mostly 0: store time, which all processes share, began as Unix time. If an operator has set the wall clock
    /// since, it is the difference in whole seconds, so that all processes compute the same one from the file and the
    /// kernel; a date may be off by 2 s. With a clock of the user, the measured distance counts.
    func ahead(ofStoreTimeAt offset: Int64) -> Int64 {
        let kept = self.current
        guard self.uptime.isSystem else { return kept.measured.subtractingSaturating(offset) }
        let seconds = kept.second.subtractingSaturating(Self.second(of: offset))
        // The first process measured the distance too: its second may be a neighbour of the kernel's.
        guard abs(seconds) > 1 else { return 0 }
        return Int64(saturating: Double(seconds) * Double(Self.microsecondsInASecond))
    }

    private var current: Kept {
        let measured = self.measured
        if let known = self.kept.value, known.holds(measured) { return known }
        var now = Kept(measured: measured, second: self.second(near: measured))
        self.kept.change { kept in
            // Another thread may have kept a slightly different distance meanwhile.
            if let known = kept, known.holds(measured) { now = known } else { kept = now }
        }
        return now
    }

    private func second(near measured: Int64) -> Int64 {
        let second = Self.second(of: measured)
        // In a container the kernel may report another boot than the host's.
        guard self.uptime.isSystem, let told = SystemHostClock.bootSecond,
            (-1...1).contains(told.subtractingSaturating(second))
        else { return second }
        return told
    }

    private static func second(of microseconds: Int64) -> Int64 {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: Self.microsecondsInASecond)
        return rest < 0 ? seconds - 1 : seconds
    }
}
