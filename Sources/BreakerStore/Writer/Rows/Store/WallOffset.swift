#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The difference between the wall clock and the uptime, in microseconds, by which stamps become dates.
///
/// No process can read both clocks at one instant, so the measured difference varies a little with each measurement and
/// each process. Dates must not vary.
final class WallOffset: Sendable {
    private struct Reference {
        var measured: Int64
        /// The Unix second at which the uptime was zero: the kernel's, or else the measured one.
        var bootSecond: Int64

        /// How much the measured difference may vary, in microseconds, while no operator sets the wall clock.
        private static let tolerance: Int64 = 1_000

        /// Whether no operator has set the wall clock since this was measured.
        func isValid(for measured: Int64) -> Bool {
            (-Self.tolerance...Self.tolerance).contains(measured.subtractingSaturating(self.measured))
        }
    }

    private static let tries = 5
    private static let microsecondsInASecond: Int64 = 1_000_000

    private let host: any HostClock
    private let uptime: UptimeClock
    private let reference = ForkSafe<Reference?>(nil)

    init(_ host: any HostClock) {
        self.host = host
        self.uptime = UptimeClock(host)
    }

    /// The difference, measured now: the best of some tries.
    var measured: Int64 {
        var best: (difference: Int64, width: Int64)?
        for _ in 0..<Self.tries {
            let before = self.uptime.now
            let wall = Int64(saturating: (self.host.wallTime.timeIntervalSince1970 * 1_000_000).rounded())
            let width = self.uptime.now.microseconds(since: before)
            let difference = wall.subtractingSaturating(before.adding(width / 2).microseconds)
            if width < best?.width ?? .max { best = (difference, width) }
            // The thread was not interrupted between the two readings.
            if width <= 2 { break }
        }
        return best?.difference ?? 0
    }

    /// How far dates are ahead of store time, in microseconds; store time is the uptime plus `offset`.
    ///
    /// Returns 0, unless an operator has set the wall clock: then the jump in whole seconds. Store time, which all
    /// processes share, began as Unix time. With whole seconds all processes compute the same jump from the file and
    /// the kernel; a date may be off by 2 s. With a clock of the user, returns the measured difference.
    func ahead(ofStoreTimeAt offset: Int64) -> Int64 {
        let reference = self.currentReference()
        guard self.uptime.isSystem else { return reference.measured.subtractingSaturating(offset) }
        let seconds = reference.bootSecond.subtractingSaturating(Self.second(of: offset))
        // The offset was measured, too, by the first process: its second may be a neighbour of the kernel's.
        guard abs(seconds) > 1 else { return 0 }
        return Int64(saturating: Double(seconds) * Double(Self.microsecondsInASecond))
    }

    /// The first reference since an operator last set the wall clock; set here if there is none.
    private func currentReference() -> Reference {
        let measured = self.measured
        if let known = self.reference.value, known.isValid(for: measured) { return known }
        var result = Reference(measured: measured, bootSecond: self.bootSecond(near: measured))
        self.reference.change { reference in
            // Another thread may have set one with a slightly different measurement.
            if let known = reference, known.isValid(for: measured) { result = known } else { reference = result }
        }
        return result
    }

    private func bootSecond(near measured: Int64) -> Int64 {
        let second = Self.second(of: measured)
        // In a container the kernel may report another boot than the host's.
        guard self.uptime.isSystem, let bootSecond = SystemHostClock.bootSecond,
            (-1...1).contains(bootSecond.subtractingSaturating(second))
        else { return second }
        return bootSecond
    }

    private static func second(of microseconds: Int64) -> Int64 {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: Self.microsecondsInASecond)
        return rest < 0 ? seconds - 1 : seconds
    }
}
