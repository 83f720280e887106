import CSQLite
import Synchronization

@testable import BreakerStore

/// Ends the process at its n-th step on disk: a named hook of the library, or a system call by which SQLite changes a file.
enum DeathAtStep {
    private static let left = Atomic<Int>(0)
    private static let writesInARow = Atomic<Int>(0)

    static func install(_ step: Int) {
        Self.left.store(step, ordering: .relaxed)
        Hook.install { _ in Self.reached() }
        Self.replaceSystemCalls()
    }

    /// One page after the other is written in the same way: of a long run the first ones count, then every 128th.
    static func reachedWrite() {
        let count = Self.writesInARow.add(1, ordering: .relaxed).newValue
        if count <= 4 || count % 128 == 0 { Self.count() }
    }

    static func reached() {
        Self.writesInARow.store(0, ordering: .relaxed)
        Self.count()
    }

    private static func count() {
        if Self.left.subtract(1, ordering: .relaxed).newValue == 0 { Forked.die() }
    }

    // https://sqlite.org/c3ref/vfs.html: "The xSetSystemCall(), xGetSystemCall(), and xNextSystemCall() interfaces are not
    // used by the SQLite core. These optional interfaces are provided by some VFSes to facilitate testing".
    private static func replaceSystemCalls() {
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
        unsafe SystemCalls.open = original("open")
        unsafe SystemCalls.write = original("write")
        unsafe SystemCalls.pwrite = original("pwrite")
        unsafe SystemCalls.pwrite64 = original("pwrite64")
        unsafe SystemCalls.truncate = original("ftruncate")
        unsafe SystemCalls.unlink = original("unlink")
        let open: SystemCalls.Open = { path, flags, mode in
            DeathAtStep.reached()
            return unsafe SystemCalls.open?(path, flags, mode) ?? -1
        }
        let write: SystemCalls.Write = { descriptor, bytes, count in
            DeathAtStep.reachedWrite()
            return unsafe SystemCalls.write?(descriptor, bytes, count) ?? -1
        }
        let pwrite: SystemCalls.WriteAt = { descriptor, bytes, count, offset in
            DeathAtStep.reachedWrite()
            return unsafe SystemCalls.pwrite?(descriptor, bytes, count, offset) ?? -1
        }
        let pwrite64: SystemCalls.WriteAt = { descriptor, bytes, count, offset in
            DeathAtStep.reachedWrite()
            return unsafe SystemCalls.pwrite64?(descriptor, bytes, count, offset) ?? -1
        }
        let truncate: SystemCalls.Truncate = { descriptor, size in
            DeathAtStep.reached()
            return unsafe SystemCalls.truncate?(descriptor, size) ?? -1
        }
        let unlink: SystemCalls.Unlink = { path in
            DeathAtStep.reached()
            return unsafe SystemCalls.unlink?(path) ?? -1
        }
        unsafe replace("open", by: open)
        unsafe replace("write", by: write)
        if unsafe SystemCalls.pwrite != nil { unsafe replace("pwrite", by: pwrite) }
        if unsafe SystemCalls.pwrite64 != nil { unsafe replace("pwrite64", by: pwrite64) }
        replace("ftruncate", by: truncate)
        unsafe replace("unlink", by: unlink)
    }
}

/// SQLite's own system calls, set once, before any is made.
private enum SystemCalls {
    typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
    typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int
    typealias WriteAt = @convention(c) (Int32, UnsafeRawPointer?, Int, Int64) -> Int
    typealias Truncate = @convention(c) (Int32, Int64) -> Int32
    typealias Unlink = @convention(c) (UnsafePointer<CChar>?) -> Int32

    nonisolated(unsafe) static var open: Open?
    nonisolated(unsafe) static var write: Write?
    nonisolated(unsafe) static var pwrite: WriteAt?
    nonisolated(unsafe) static var pwrite64: WriteAt?
    nonisolated(unsafe) static var truncate: Truncate?
    nonisolated(unsafe) static var unlink: Unlink?
}
