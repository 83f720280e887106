#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One open store of one process, as the others see it.
public struct WorkerSnapshot: Sendable, Hashable, Identifiable {
    /// The worker's number, never used again.
    public var id: Int64
    /// Its name: the one configured, or its process's.
    public var name: String
    /// Its process.
    public var pid: Int32
    /// The release of the library that it runs; nil where it has not said.
    public var version: String?
    /// When it opened the store.
    public var since: Date
    /// The names of the circuits that it probes.
    public var probing: [String]
    /// Since when the worker can't use the file, and guards its circuits in memory.
    ///
    /// Nil while the worker can use the file, and where no board can be read that would tell.
    public var degradedSince: Date?

    /// Creates a snapshot, as a test may need one.
    public init(
        id: Int64, name: String, pid: Int32, version: String? = nil, since: Date, probing: [String] = [],
        degradedSince: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.pid = pid
        self.version = version
        self.since = since
        self.probing = probing
        self.degradedSince = degradedSince
    }
}
