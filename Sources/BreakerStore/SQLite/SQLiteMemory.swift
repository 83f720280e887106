import CSQLite

/// The memory that SQLite takes in this process.
package enum SQLiteMemory {
    /// Makes each statement that needs more fail, whoever runs it: for a program that uses SQLite for nothing but a
    /// store.
    ///
    /// SQLite reads a key of an index as a whole to compare it, however long somebody has made the key
    /// (https://sqlite.org/c3ref/hard_heap_limit64.html).
    package static func limit(to bytes: Int64) { _ = sqlite3_hard_heap_limit64(bytes) }
}
