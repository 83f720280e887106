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
}
