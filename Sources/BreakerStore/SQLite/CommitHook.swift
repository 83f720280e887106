import CSQLite

/// Learns from SQLite how many frames the log has after a commit of a connection.
///
/// See https://sqlite.org/c3ref/wal_hook.html.
///
/// Used by the one thread that uses the connection. A transaction that wrote nothing tells nothing.
final class CommitHook {
    var frames: Int32?

    /// Makes SQLite tell this object, which must outlive the connection.
    func attach(to connection: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe sqlite3_wal_hook(
            connection,
            { context, _, _, frames in
                guard let context = unsafe context else { return SQLITE_OK }
                unsafe Unmanaged<CommitHook>.fromOpaque(context).takeUnretainedValue().frames = frames
                return SQLITE_OK
            },
            context
        )
    }
}
