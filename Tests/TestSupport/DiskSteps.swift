import CSQLite
import Synchronization

/// The steps that SQLite takes on disk: a handler of the program's own is called before each.
package enum DiskSteps {
    package typealias Handler = @Sendable () -> Void

    private static let writesInARow = Atomic<Int>(0)
    /// Set once, before any step is taken.
    nonisolated(unsafe) private static var handler: Handler = {}

    /// Calls `handler` before each system call by which SQLite changes a file, of a long run of writes before some.
    ///
    /// - Parameter withLocks: whether before those, too, by which SQLite locks a file.
    package static func install(withLocks: Bool, _ handler: @escaping Handler) {
        unsafe Self.handler = handler
        Self.replaceSystemCalls(withLocks: withLocks)
    }

    /// A step that is no write.
    package static func reached() {
        Self.writesInARow.store(0, ordering: .relaxed)
        unsafe Self.handler()
    }

    /// One page after the other is written in the same way: of a long run the first ones count, then every 64th.
    private static func reachedWrite() {
        let count = Self.writesInARow.add(1, ordering: .relaxed).newValue
        if count <= 6 || count % 64 == 0 { unsafe Self.handler() }
    }
}

// https://sqlite.org/c3ref/vfs.html: "The xSetSystemCall(), xGetSystemCall(), and xNextSystemCall() interfaces are not
// used by the SQLite core. These optional interfaces are provided by some VFSes to facilitate testing".
extension DiskSteps {
    private typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
    private typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int
    private typealias WriteAt = @convention(c) (Int32, UnsafeRawPointer?, Int, Int64) -> Int
    private typealias Truncate = @convention(c) (Int32, Int64) -> Int32
    private typealias Unlink = @convention(c) (UnsafePointer<CChar>?) -> Int32

    /// SQLite's own, set once, before any is made.
    private enum Original {
        nonisolated(unsafe) static var open: Open?
        nonisolated(unsafe) static var write: Write?
        nonisolated(unsafe) static var pwrite: WriteAt?
        nonisolated(unsafe) static var pwrite64: WriteAt?
        nonisolated(unsafe) static var truncate: Truncate?
        nonisolated(unsafe) static var unlink: Unlink?
    }

    private static func replaceSystemCalls(withLocks: Bool) {
        guard let vfs = unsafe sqlite3_vfs_find(nil), let get = unsafe vfs.pointee.xGetSystemCall,
            let set = unsafe vfs.pointee.xSetSystemCall
        else { return }
        func original<Call>(_ name: String) -> Call? {
            guard let call = unsafe get(vfs, name) else { return nil }
            return unsafe unsafeBitCast(call, to: Call.self)
        }
        func replace<Call>(_ name: String, by call: Call) {
            _ = unsafe set(vfs, name, unsafeBitCast(call, to: sqlite3_syscall_ptr.self))
        }
        unsafe Original.open = original("open")
        unsafe Original.write = original("write")
        unsafe Original.pwrite = original("pwrite")
        unsafe Original.pwrite64 = original("pwrite64")
        unsafe Original.truncate = original("ftruncate")
        unsafe Original.unlink = original("unlink")
        let open: Open = { path, flags, mode in
            DiskSteps.reached()
            return unsafe Original.open?(path, flags, mode) ?? -1
        }
        let write: Write = { descriptor, bytes, count in
            DiskSteps.reachedWrite()
            return unsafe Original.write?(descriptor, bytes, count) ?? -1
        }
        let pwrite: WriteAt = { descriptor, bytes, count, offset in
            DiskSteps.reachedWrite()
            return unsafe Original.pwrite?(descriptor, bytes, count, offset) ?? -1
        }
        let pwrite64: WriteAt = { descriptor, bytes, count, offset in
            DiskSteps.reachedWrite()
            return unsafe Original.pwrite64?(descriptor, bytes, count, offset) ?? -1
        }
        let truncate: Truncate = { descriptor, size in
            DiskSteps.reached()
            return unsafe Original.truncate?(descriptor, size) ?? -1
        }
        let unlink: Unlink = { path in
            DiskSteps.reached()
            return unsafe Original.unlink?(path) ?? -1
        }
        unsafe replace("open", by: open)
        unsafe replace("write", by: write)
        if unsafe Original.pwrite != nil { unsafe replace("pwrite", by: pwrite) }
        if unsafe Original.pwrite64 != nil { unsafe replace("pwrite64", by: pwrite64) }
        replace("ftruncate", by: truncate)
        unsafe replace("unlink", by: unlink)
        if withLocks { Self.replaceLocking(get: { unsafe get(vfs, $0) }, set: { unsafe set(vfs, $0, $1) }) }
    }

    #if os(Linux)
    // SQLite calls it with three arguments each time; there a variadic function takes them as any other does.
    private typealias Control = @convention(c) (Int32, Int32, UnsafeMutableRawPointer?) -> Int32
    nonisolated(unsafe) private static var control: Control?

    private static func replaceLocking(
        get: (String) -> sqlite3_syscall_ptr?,
        set: (String, sqlite3_syscall_ptr?) -> Int32
    ) {
        guard let original = get("fcntl") else { return }
        unsafe Self.control = unsafeBitCast(original, to: Control.self)
        let control: Control = { descriptor, command, argument in
            DiskSteps.reached()
            return unsafe DiskSteps.control?(descriptor, command, argument) ?? -1
        }
        _ = unsafe set("fcntl", unsafeBitCast(control, to: sqlite3_syscall_ptr.self))
    }
    #else
    private static func replaceLocking(
        get: (String) -> sqlite3_syscall_ptr?,
        set: (String, sqlite3_syscall_ptr?) -> Int32
    ) {}
    #endif
}
