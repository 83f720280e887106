#if PostgreSQL
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Whether a link joins its file's circuits with those of other hosts.
public enum FleetHealth: Sendable, Equatable {
    /// The link reads and tells what all hosts know.
    case joined
    /// Another link of this file does the work; this one takes over within a second when that one ends.
    case standby
    /// There is no way to the server, the store's file can't be read, or one of them refuses something to the link: for
    /// that the host guards itself, as without a fleet, and the link tries again.
    case cutOff(since: Date, error: FleetError)
    /// The link does not run: not yet, or no longer.
    case closed
}
#endif
