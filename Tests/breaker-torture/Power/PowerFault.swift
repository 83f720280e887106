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
    /// Who commits syncs the log by the descriptor by which it writes there; who copies the log has another one.
    func applied(to records: [PowerRecord], on disk: PowerDisk) -> [PowerRecord] {
        var database = disk.file(named: "a.db")
        var log = disk.file(named: "a.db-wal")
        // Where each of those who write to the log has written last.
        var writers: [Descriptor: Int] = [:]
        return records.filter { record in
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
    }
}
