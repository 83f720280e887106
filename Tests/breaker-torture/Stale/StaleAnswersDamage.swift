import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which files of a store are taken away.
enum StaleAnswersDamage: CaseIterable {
    case lock, log, index, database, board, all

    /// Without its lock file a store is degraded, but its database and log are whole; without its board it is not even
    /// that.
    var losesCommits: Bool {
        switch self {
        case .lock, .board: false
        case .log, .index, .database, .all: true
        }
    }

    func strike(_ store: String) {
        switch self {
        case .lock: unsafe unlink(store + "-lock")
        case .log: unsafe unlink(store + "-wal")
        case .index: unsafe unlink(store + "-shm")
        case .database: unsafe rename(store, store + ".away")
        case .board: unsafe unlink(store + "-board")
        case .all: for outcome in ["", "-wal", "-shm", "-lock", "-board"] { unsafe unlink(store + outcome) }
        }
    }

    /// Spoils the header of the wal-index as a writer might that dies while it writes it, or worse: one copy of it, or
    /// both, but never so that it looks whole.
    ///
    /// Who reads next must recover the index from the log. This process has no store open, so that it drops no lock.
    static func tearHeader(of store: String, _ random: () -> UInt64) -> Bool {
        let descriptor = unsafe open(store + "-shm", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 4_096, let memory = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe memory != MAP_FAILED
        else { return false }
        defer { unsafe munmap(memory, 4_096) }
        // Two copies of six words each (https://sqlite.org/walformat.html#the_wal_index_header).
        let words = unsafe memory.bindMemory(to: Int64.self, capacity: 512)
        func flip(_ word: Int) { unsafe ts_flip(words + word, Int64(truncatingIfNeeded: random() | 1)) }
        switch random() % 5 {
        case 0: flip(Int(random() % 6))
        case 1: flip(6 + Int(random() % 6))
        case 2: for word in 0..<12 { flip(word) }
        case 3: for word in 0..<6 { unsafe ts_store(words + word, 0) }
        default: for word in 0..<12 { unsafe ts_store(words + word, 0) }
        }
        return true
    }
}
