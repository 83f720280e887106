import CSQLite

/// The memory that SQLite uses in this process.
package enum SQLiteMemory {
    /// Makes each statement that needs more memory fail; only for a process that uses SQLite for a store alone.
    ///
    /// SQLite reads a key of an index whole to compare it, however long another program has made the key
    /// (https://sqlite.org/c3ref/hard_heap_limit64.html).
    package static func limit(to bytes: Int64) { _ = sqlite3_hard_heap_limit64(bytes) }
}
