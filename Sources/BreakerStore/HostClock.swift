#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where time comes from.
///
/// A store asks it on every thread, so it must be cheap, and it never blocks.
public protocol HostClock: Sendable {
    /// A text that is the same for all processes of the host and changes with each boot.
    var bootID: String { get }

    /// The time since the host booted: it never steps, counts suspension, and all processes of the host agree on it.
    var uptime: Duration { get }

    /// The time that people go by; it may be stepped, and decides nothing but what a reboot took.
    var wallTime: Date { get }

    /// Suspends the task for that long by this clock; throws `CancellationError` if the task is cancelled.
    ///
    /// Time-outs and the delays of retries wait by it. By default it waits for real.
    func sleep(for duration: Duration) async throws
}

extension HostClock {
    /// Suspends the task for that long by the system's clock.
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

/// A clock by which a thread can wait, too.
protocol BlockingHostClock: HostClock {
    /// Blocks the thread for that long by this clock.
    func block(for duration: Duration)
}
