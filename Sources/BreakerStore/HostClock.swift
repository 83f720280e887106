#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The source of a store's time.
///
/// A store reads its clock on every thread: reading must be cheap, and must never block.
public protocol HostClock: Sendable {
    /// A text that is the same for all processes of the host and changes with each boot.
    var bootID: String { get }

    /// The time since the host booted: never steps, counts suspension, and is the same in all processes of the host.
    ///
    /// A store cuts it to the microseconds that `Int64` can hold, some 292,000 years.
    var uptime: Duration { get }

    /// The wall time, which may be stepped, and decides only how long a reboot took.
    var wallTime: Date { get }

    /// Suspends the task for `duration` by this clock; throws `CancellationError` if the task is cancelled.
    ///
    /// Time-outs and the delays of retries use this function. The default waits by the system's clock.
    func sleep(for duration: Duration) async throws
}

extension HostClock {
    /// Suspends the task for `duration` by the system's clock, a hundred years at most.
    public func sleep(for duration: Duration) async throws {
        // `Task.sleep` ends the process if the sleep would end too far ahead.
        try await Task.sleep(for: min(max(duration, .zero), .longestAllowed))
    }

    /// The wall time, or the beginning of 1970 for a date that is not a number.
    ///
    /// Such a date differs from itself, and its description ends the process.
    var wallDate: Date {
        let date = self.wallTime
        return date.timeIntervalSince1970.isNaN ? Date(timeIntervalSince1970: 0) : date
    }
}

/// A clock by which a thread can wait, too.
protocol BlockingHostClock: HostClock {
    /// Blocks the thread for `duration` by this clock.
    func block(for duration: Duration)
}
