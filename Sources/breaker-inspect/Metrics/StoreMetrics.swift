import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The metrics of one store and of its circuits.
struct StoreMetrics {
    /// The facts of a store that could be read.
    struct Contents {
        var schema: String
        var fileSize: Int64
        var logSize: Int64
        /// The processes that have been reading a large log for long.
        var readers: [OtherProcess]
        var live: LiveWorkers
        /// How many live workers run each release.
        var releases: ReleaseCounts
        var circuits: [CircuitMetrics]
        var leftOut: Int
        var unreadable: Int
        var link: LinkStanding
        /// The file's creation; nil if an older release has created it.
        var created: Date?
        var now: Date
    }

    /// The label of all series of the store.
    let label: String
    /// The facts; nil if the store could not be read.
    var contents: Contents?

    init(name: String) { self.label = MetricLines.label("store", name) }

    /// Reads the store.
    ///
    /// - Parameter mostCircuits: how many circuits get metrics.
    mutating func read(atMost maxCircuits: Int, in context: Context) throws(Failure) {
        let label = self.label
        let files = try? StoreFiles(path: context.path())
        let logSize = files?.log?.size ?? 0
        let readers = logSize >= FileChecks.largeLog ? files.map(IndexHolder.readers) ?? [] : []
        self.contents = try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (inspection) throws(BreakerStoreError) in
                let found = try inspection.circuits(
                    nil, countingWorkers: false, into: FirstCircuits(maxCircuits) { ($0.standing.urgency, $0.labels) }
                ) { $0.append(CircuitMetrics($1, of: label)) }
                var first = found.value
                first.choose()
                var circuits = first.circuits
                for place in circuits.indices {
                    circuits[place].take(try inspection.transitions(of: circuits[place].name))
                }
                return Contents(
                    schema: try inspection.schemaVersion(), fileSize: inspection.fileSize, logSize: logSize,
                    readers: readers, live: found.live,
                    releases: ReleaseCounts(try inspection.workers(), ofLive: found.live.count), circuits: circuits,
                    leftOut: first.leftOut, unreadable: found.unreadable.count, link: inspection.link,
                    created: try inspection.creation()?.at, now: context.now)
            }
        }
    }

    static let families: [MetricFamily<StoreMetrics>] = [
        .init("breaker_store_up", .gauge, "Whether the store could be read") { $1.add($0.contents == nil ? 0 : 1) },
        .init("breaker_info", .gauge, "Versions of this tool, of the store's schema and of SQLite") {
            guard let contents = $0.contents else { return }
            let labels = [("version", Tool.version), ("schema", contents.schema), ("sqlite", Versions.sqlite)]
            $1.add(1, labels.map { MetricLines.label($0, $1) }.joined(separator: ","))
        },
        .init("breaker_store_created_timestamp_seconds", .gauge, "When the file was created, in Unix time") {
            guard let created = $0.contents?.created else { return }
            $1.add(UInt64(max(0, created.timeIntervalSince1970)))
        },
        .init("breaker_store_bytes", .gauge, "Size of the database, without its log") {
            if let contents = $0.contents { $1.add(UInt64(clamping: contents.fileSize)) }
        },
        .init("breaker_log_bytes", .gauge, "Size of the log") {
            if let contents = $0.contents { $1.add(UInt64(clamping: contents.logSize)) }
        },
        .init(
            "breaker_log_reader", .gauge,
            "Always 1 for a process that keeps a log of 32 MB or more from being truncated"
        ) {
            for reader in $0.contents?.readers ?? [] {
                let process = MetricLines.label("process", reader.name)
                $1.add(1, "pid=\"\(reader.pid)\",\(process)")
            }
        },
        .init("breaker_workers", .gauge, "Processes that have the store open") {
            if let contents = $0.contents { $1.add(UInt64(contents.live.count)) }
        },
        .init("breaker_workers_degraded", .gauge, "Processes that guard their circuits in memory") {
            if let contents = $0.contents { $1.add(UInt64(contents.live.degraded.count)) }
        },
        .init("breaker_workers_outside", .gauge, "Processes whose release can't use the store's file") {
            if let contents = $0.contents { $1.add(UInt64(contents.live.outside.count)) }
        },
        .init(
            "breaker_workers_by_version", .gauge,
            "Processes that have the store open, by the release of the library that they run"
        ) {
            for release in $0.contents?.releases.counts ?? [] {
                $1.add(UInt64(release.count), MetricLines.label("version", release.version))
            }
        },
        .init(
            "breaker_link_up", .gauge, "Whether a link joins the store with those of other hosts; absent without a link"
        ) {
            guard let link = $0.contents?.link, link != .none else { return }
            $1.add(link.livingNote?.isJoined == true ? 1 : 0)
        },
        .init("breaker_link_cut_off_seconds", .gauge, "For how long the link has had no way to the other hosts") {
            guard let contents = $0.contents, let note = contents.link.livingNote else { return }
            $1.add(note.isJoined ? 0 : UInt64(max(0, contents.now.timeIntervalSince(note.since))))
        },
        .init("breaker_circuits_left_out", .gauge, "Circuits omitted because of --max-circuits") {
            if let contents = $0.contents { $1.add(UInt64(contents.leftOut)) }
        },
        .init("breaker_circuits_unreadable", .gauge, "Circuits whose rows cannot be read") {
            if let contents = $0.contents { $1.add(UInt64(contents.unreadable)) }
        },
    ]
}
