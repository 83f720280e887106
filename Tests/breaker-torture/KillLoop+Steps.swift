import BreakerStore
import CSQLite
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// Ends this process at the n-th step of one place: a named hook of the library, or a system call by which SQLite
    /// locks or changes a file.
    enum Steps {
        private static let target = Atomic<Int>(-1)
        private static let left = Atomic<Int>(0)
        private static let pipe = Atomic<Int32>(-1)
        private static let inside = Atomic<UInt32>(0)
        private static let writesInARow = Atomic<Int>(0)

        /// Innermost first.
        private static let order: [Place] = [
            .quarantine, .migration, .checkpoint, .transaction, .creation, .open, .close,
        ]

        static func install(_ place: Place, _ step: Int, pipe: Int32) {
            Self.pipe.store(pipe, ordering: .relaxed)
            Self.left.store(step, ordering: .relaxed)
            Self.target.store(place.rawValue, ordering: .relaxed)
            #if BREAKERSTORE_HOOKS
            Hook.install { Self.reached(hook: $0) }
            #endif
            Self.replaceSystemCalls()
        }

        static func enter(_ place: Place) { Self.inside.bitwiseOr(1 << UInt32(place.rawValue), ordering: .relaxed) }

        static func leave(_ place: Place) { Self.inside.bitwiseAnd(~(1 << UInt32(place.rawValue)), ordering: .relaxed) }

        private static func reached(hook: String) {
            switch hook {
            case "quarantine.begin": Self.enter(.quarantine)
            case "migration.begin": Self.enter(.migration)
            case "checkpoint.locked": Self.enter(.checkpoint)
            case "commit.begin": Self.enter(.transaction)
            case "creation.file": Self.enter(.creation)
            default: break
            }
            Self.reached()
            switch hook {
            case "quarantine.done": Self.leave(.quarantine)
            case "migration.done": Self.leave(.migration)
            case "checkpoint.done": Self.leave(.checkpoint)
            case "commit.done": Self.leave(.transaction)
            case "creation.freed": Self.leave(.creation)
            default: break
            }
        }

        static func reached() {
            Self.writesInARow.store(0, ordering: .relaxed)
            Self.count()
        }

        /// One page after the other is written in the same way: of a long run the first ones count, then every 64th.
        static func reachedWrite() {
            let count = Self.writesInARow.add(1, ordering: .relaxed).newValue
            if count <= 6 || count % 64 == 0 { Self.count() }
        }

        private static var place: Place {
            let inside = Self.inside.load(ordering: .relaxed)
            return Self.order.first { inside & (1 << UInt32($0.rawValue)) != 0 } ?? .calls
        }

        private static func count() {
            let place = Self.place
            guard place.rawValue == Self.target.load(ordering: .relaxed),
                Self.left.subtract(1, ordering: .relaxed).newValue == 0
            else { return }
            Note(.dying, 0, what: Int64(place.rawValue)).write(to: Self.pipe.load(ordering: .relaxed))
            // Meanwhile the others of this process say what they were told.
            usleep(500)
            kill(getpid(), SIGKILL)
            while true { pause() }
        }
    }
}

// https://sqlite.org/c3ref/vfs.html: "The xSetSystemCall(), xGetSystemCall(), and xNextSystemCall() interfaces are not used
// by the SQLite core. These optional interfaces are provided by some VFSes to facilitate testing".
extension KillLoop.Steps {
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
        unsafe Original.open = original("open")
        unsafe Original.write = original("write")
        unsafe Original.pwrite = original("pwrite")
        unsafe Original.pwrite64 = original("pwrite64")
        unsafe Original.truncate = original("ftruncate")
        unsafe Original.unlink = original("unlink")
        let open: Open = { path, flags, mode in
            KillLoop.Steps.reached()
            return unsafe Original.open?(path, flags, mode) ?? -1
        }
        let write: Write = { descriptor, bytes, count in
            KillLoop.Steps.reachedWrite()
            return unsafe Original.write?(descriptor, bytes, count) ?? -1
        }
        let pwrite: WriteAt = { descriptor, bytes, count, offset in
            KillLoop.Steps.reachedWrite()
            return unsafe Original.pwrite?(descriptor, bytes, count, offset) ?? -1
        }
        let pwrite64: WriteAt = { descriptor, bytes, count, offset in
            KillLoop.Steps.reachedWrite()
            return unsafe Original.pwrite64?(descriptor, bytes, count, offset) ?? -1
        }
        let truncate: Truncate = { descriptor, size in
            KillLoop.Steps.reached()
            return unsafe Original.truncate?(descriptor, size) ?? -1
        }
        let unlink: Unlink = { path in
            KillLoop.Steps.reached()
            return unsafe Original.unlink?(path) ?? -1
        }
        unsafe replace("open", by: open)
        unsafe replace("write", by: write)
        if unsafe Original.pwrite != nil { unsafe replace("pwrite", by: pwrite) }
        if unsafe Original.pwrite64 != nil { unsafe replace("pwrite64", by: pwrite64) }
        replace("ftruncate", by: truncate)
        unsafe replace("unlink", by: unlink)
        Self.replaceLocking(get: { unsafe get(vfs, $0) }, set: { unsafe set(vfs, $0, $1) })
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
            KillLoop.Steps.reached()
            return unsafe KillLoop.Steps.control?(descriptor, command, argument) ?? -1
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
