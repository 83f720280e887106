/// A sync that is left out on purpose, to see that the part notices.
enum PowerFault: String, CaseIterable {
    /// Of the log, behind the commit of a change that must survive.
    case tripSync = "trip-sync"
    /// Of the log, before it is copied into the database.
    case checkpointSync = "checkpoint-sync"
    /// Of the database, before the log begins anew.
    case databaseSync = "database-sync"

    private struct Descriptor: Hashable {
        let process: Int32
        let number: Int32
    }

    /// The run as it would be on a disk that is never told of these syncs.
    ///
    /// A process that commits syncs the log through the descriptor by which it writes there. A process that copies the
    /// log does so through another one.
    ///
    /// - Returns: the records, and the numbers of those before which a file lacks a sync. Elsewhere a cut of the power
    ///   leaves what it would leave anyway.
    func applied(to records: [PowerRecord], on disk: PowerDisk) -> (records: [PowerRecord], suspects: Set<Int>) {
        var database = disk.file(named: "a.db")
        var log = disk.file(named: "a.db-wal")
        // Where each of those who write to the log has written last.
        var writers: [Descriptor: Int] = [:]
        func keeps(_ record: PowerRecord) -> Bool {
            let descriptor = Descriptor(process: record.process, number: record.descriptor)
            switch record.change {
            case .create(let file, let name):
                if name == "a.db" { database = file }
                if name == "a.db-wal" { log = file }
                return true
            case .mark(let text):
                // Descriptors are given anew when the store is opened anew.
                if text.hasPrefix("began"), text.hasSuffix("open") {
                    for writer in writers.keys where writer.process == record.process { writers[writer] = nil }
                }
                return true
            case .write(let file, let offset, _):
                if file == log { writers[descriptor] = offset }
                return true
            case .syncBegin(let file), .syncEnd(let file):
                let lastWrite = file == log ? writers[descriptor] : nil
                switch self {
                // The header of a log that begins anew is synced, too, before its first frame is written.
                case .tripSync: return file != log || lastWrite == nil || lastWrite == 0
                case .checkpointSync: return file != log || lastWrite != nil
                case .databaseSync: return file != database
                }
            case .resize, .rename, .unlink: return true
            }
        }
        var kept: [PowerRecord] = []
        // The files that lack a sync, and those of them of which a sync has begun since.
        var unsynced: Set<Int64> = []
        var syncing: Set<Int64> = []
        var suspects: Set<Int> = []
        for record in records {
            let isKept = keeps(record)
            if isKept { kept.append(record) }
            switch record.change {
            case .syncBegin(let file) where isKept && unsynced.contains(file): syncing.insert(file)
            case .syncEnd(let file) where !isKept:
                unsynced.insert(file)
                syncing.remove(file)
            case .syncEnd(let file): if syncing.remove(file) != nil { unsynced.remove(file) }
            default: break
            }
            if !unsynced.isEmpty { suspects.insert(kept.count) }
        }
        return (kept, suspects)
    }
}
