#if PostgreSQL
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Whether a link joins its file's circuits with those of other hosts.
public enum FleetHealth: Sendable, Equatable {
    /// The link shares this host's circuits with the other hosts.
    case joined
    /// Another link of this file does the work; this link takes over within a second after that link ends.
    case standby
    /// The server can't be reached, the store's file can't be read, or one of them refuses something to the link.
    ///
    /// Until the link succeeds again, the host relies on its own file, as without a fleet.
    case cutOff(since: Date, error: FleetError)
    /// The link does not run yet, or no longer.
    case closed
}
#endif
