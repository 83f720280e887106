#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Facts about a store's files without their content, for a diagnosis.
package struct StoreFiles: Sendable {
    /// Whether a path leads to a file of the store: to the database or a file beside it, under any name.
    package static func has(_ path: String, ofStore store: String) -> Bool {
        guard let number = FoundFile(path)?.number else { return false }
        // `store` may be a path that no store can have, and lead to the database all the same.
        if FoundFile(store)?.number == number { return true }
        guard let file = try? StoreFile(resolving: store) else { return false }
        return [file.path, file.log, file.index, file.journal, file.lock, file.board]
            .contains { FoundFile($0)?.number == number }
    }

    /// A file or directory, as `stat` and `access` describe it.
    package struct File: Sendable, Hashable {
        package var path: String
        package var mode: UInt32
        package var owner: UInt32
        package var group: UInt32
        package var size: Int64
        private let number: FoundFile.Number
        package var isReadable: Bool
        package var isWritable: Bool

        package init?(_ path: String) {
            guard let found = FoundFile(path) else { return nil }
            self.path = path
            self.mode = found.permissions
            self.owner = found.owner
            self.group = found.group
            self.size = found.size
            self.number = found.number
            self.isReadable = unsafe access(path, R_OK) == 0
            self.isWritable = unsafe access(path, W_OK) == 0
        }

        /// Whether `08:01:2097` in Linux' /proc/locks means this file: the device in hexadecimal, and the inode.
        package func isNamed(inLocks name: Substring) -> Bool {
            let parts = name.split(separator: ":")
            guard parts.count == 3, UInt64(parts[2]) == self.number.inode else { return false }
            // For files of btrfs, stat(2) and /proc/locks have different devices.
            if FileSystem().number(self.path) == 0x9123_683E { return true }
            let device = self.number.device
            return UInt64(parts[0], radix: 16) == (device >> 8 & 0xFFF | device >> 32 & ~0xFFF)
                && UInt64(parts[1], radix: 16) == (device & 0xFF | device >> 12 & ~0xFF)
        }
    }

    /// The bytes of a file system, and whether any can be written.
    package struct Room: Sendable, Hashable {
        package var total: Double
        /// Without the room that the file system reserves for root.
        package var free: Double
        /// Whether it is mounted read-only; the kernel remounts some so after an I/O error.
        package var isReadOnly: Bool

        package init?(in directory: String) {
            var info = statvfs()
            guard unsafe statvfs(directory, &info) == 0, info.f_blocks > 0 else { return nil }
            self.total = Double(info.f_blocks) * Double(info.f_frsize)
            self.free = Double(info.f_bavail) * Double(info.f_frsize)
            self.isReadOnly = UInt(info.f_flag) & UInt(ST_RDONLY) != 0
        }
    }

    /// The kind of the file system, if a store can't be kept there.
    package var unsuitableFileSystem: String?
    /// The room on the file system; nil if it can't be read.
    package var room: Room?
    package var directory: File?
    package var database: File?
    package var log: File?
    package var index: File?
    package var lock: File?
    package var board: File?
    /// Whether the lock file is that of a store, as its first line or the bytes of living workers show.
    package var isLockFileOfStore: Bool
    /// Whether another program has written into the lock file of living workers.
    package var isLockFileDamaged: Bool

    let file: StoreFile

    /// Throws if no store can have the path, on any file system.
    package init(path: String) throws(BreakerStoreError) {
        let file = try StoreFile(resolving: path, on: FileSystem(number: { _ in 0 }))
        let fileSystem = FileSystem()
        self.file = file
        self.unsuitableFileSystem =
            fileSystem.unsuitableKind(of: file.path) ?? fileSystem.unsuitableKind(of: file.directory)
        self.room = Room(in: file.directory)
        self.directory = File(file.directory)
        self.database = File(file.path)
        self.log = File(file.log)
        self.index = File(file.index)
        self.lock = File(file.lock)
        self.board = File(file.board)
        let content = LockFile.content(at: file.lock)
        self.isLockFileOfStore = content != .other
        self.isLockFileDamaged = content == .damaged
    }

    package var link: LinkStanding { LinkStanding(at: self.file) }

    /// A watch over the file, which needs no open store.
    package func watch(_ clock: any HostClock) -> ChangeWatch { ChangeWatch(self.file, clock) }

    /// Reads the file and changes nothing; throws if it is no store, or can't be read.
    package func examine(_ clock: any HostClock) throws(BreakerStoreError) -> StoreExamination {
        guard try OpeningFacts.isStore(self.file) else { throw Schema.missing(self.file) }
        return try StoreView.ofFile(self.file, clock, patience: .milliseconds(250)) {
            (view) throws(BreakerStoreError) in try StoreExamination(view)
        }
    }
}
