import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds the processes of degraded workers that have no row, because the file could not be used when they started.
///
/// The kernel lists the locks of each open file in /proc/PID/fdinfo (proc_pid_fdinfo(5)): root can read those of all
/// processes, other users those of their own processes.
struct UnlistedWorkers {
    /// How far a degraded worker's locked bytes lie above its id: `DegradedBytes.distance`.
    private static let distance: Int64 = 1 << 62

    let facts: StoreFiles

    /// Names the workers that have no row by their processes, if these can be found.
    func name(_ live: inout LiveWorkers) {
        let unlisted = live.degraded.indices.filter { live.degraded[$0].worker == nil }
        guard !unlisted.isEmpty, let lock = self.facts.lock else { return }
        for pid in DirectoryListing.names(in: "/proc").compactMap({ Int32($0) }) {
            let numbers = DirectoryListing.names(in: "/proc/\(pid)/fdinfo").flatMap { descriptor in
                Self.numbers(in: SmallFile.text("/proc/\(pid)/fdinfo/\(descriptor)") ?? "", of: lock)
            }
            for index in unlisted where numbers.contains(live.degraded[index].id) {
                let comm = SmallFile.text("/proc/\(pid)/comm") ?? ""
                let name = comm.split(separator: "\n").first.map(String.init) ?? "process"
                live.degraded[index].worker = WorkerSnapshot(
                    id: live.degraded[index].id.rawValue, name: name, pid: pid, since: live.now)
            }
        }
    }

    /// The ids of degraded workers, from the locks of one open file.
    private static func numbers(in text: String, of lock: StoreFiles.File) -> [WorkerID] {
        text.split(separator: "\n").compactMap { line in
            // Such as `lock:  1: OFDLCK ADVISORY  WRITE -1 08:01:2097 4611686022722355200 4611686022722355202`
            let fields = line.split { $0 == " " || $0 == "\t" }
            guard fields.count == 9, fields[0] == "lock:", fields[2] == "OFDLCK", lock.isNamed(inLocks: fields[6]),
                let start = Int64(fields[7]), start > Self.distance
            else { return nil }
            return WorkerID(start - Self.distance)
        }
    }
}
