#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One open store of one process, as other processes see it.
public struct WorkerSnapshot: Sendable, Hashable, Identifiable {
    /// The worker's number, which is never used again.
    public var id: Int64
    /// The configured name, or the name of the worker's process.
    public var name: String
    /// The worker's process.
    public var pid: Int32
    /// The version of the library that the worker runs; nil if unknown.
    public var version: String?
    /// When the worker opened the store.
    public var since: Date
    /// The names of the circuits that the worker probes.
    public var probing: [String]
    /// Since when the worker can't use the file, and guards its circuits in memory.
    ///
    /// Nil while the worker can use the file, and where no board can be read.
    public var degradedSince: Date?

    /// Creates a snapshot for tests.
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
