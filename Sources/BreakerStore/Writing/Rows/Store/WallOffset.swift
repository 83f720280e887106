#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// By how much the wall clock is ahead of the uptime, in microseconds, so that stamps can be shown as dates.
///
/// The wall clock and the uptime can't be read at one instant: their measured distance is a little different each time,
/// and in each process. Dates must not be.
final class WallOffset: Sendable {
    private struct Kept {
        var measured: Int64
        /// The second at which the uptime was zero, as the kernel tells it, or else as it was measured.
        var second: Int64

        /// How much a measured distance may change without anybody having set the wall clock.
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

    /// The distance as it is measured now.
    var measured: Int64 {
        var best: (distance: Int64, width: Int64)?
        for _ in 0..<Self.tries {
            let before = self.uptime.now
            let wall = Int64(saturating: (self.host.wallTime.timeIntervalSince1970 * 1_000_000).rounded())
            let width = self.uptime.now.subtractingSaturating(before)
            let distance = wall.subtractingSaturating(before.addingSaturating(width / 2))
            if width < best?.width ?? .max { best = (distance, width) }
            // The thread was not interrupted in between.
            if width <= 2 { break }
        }
        return best?.distance ?? 0
    }

    /// How far dates are ahead of store time, of which the file says that it is the uptime plus `offset`.
    ///
    /// By the system's clocks a date is store time itself, which all processes share, as long as the wall clock is
    /// where it was when the first process of this boot made store time of it. Once somebody has set the wall clock, a
    /// date is whole seconds away from store time: the file and the kernel tell all processes alike how many. So a date
    /// may be two seconds beside the wall clock then. By another clock it is the measured distance.
    func ahead(ofStoreTimeAt offset: Int64) -> Int64 {
        let kept = self.current
        guard self.uptime.isSystem else { return kept.measured.subtractingSaturating(offset) }
        let seconds = kept.second.subtractingSaturating(Self.second(of: offset))
        // The first process measured the distance, too: its second may be the one beside the kernel's.
        guard abs(seconds) > 1 else { return 0 }
        return Int64(saturating: Double(seconds) * Double(Self.microsecondsInASecond))
    }

    private var current: Kept {
        let measured = self.measured
        if let known = self.kept.value, known.holds(measured) { return known }
        var now = Kept(measured: measured, second: self.second(near: measured))
        self.kept.change { kept in
            // Another thread may have measured meanwhile, a little differently.
            if let known = kept, known.holds(measured) { now = known } else { kept = now }
        }
        return now
    }

    private func second(near measured: Int64) -> Int64 {
        let second = Self.second(of: measured)
        // A container may be told another boot than the host's.
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
