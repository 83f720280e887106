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
    var uptime: Duration { get }

    /// The wall time, which may be stepped, and decides only how long a reboot took.
    var wallTime: Date { get }

    /// Suspends the task for `duration` by this clock; throws `CancellationError` if the task is cancelled.
    ///
    /// Time-outs and the delays of retries use this function. The default waits by the system's clock.
    func sleep(for duration: Duration) async throws
}

extension HostClock {
    /// Suspends the task for `duration` by the system's clock.
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

/// A clock by which a thread can wait, too.
protocol BlockingHostClock: HostClock {
    /// Blocks the thread for `duration` by this clock.
    func block(for duration: Duration)
}
