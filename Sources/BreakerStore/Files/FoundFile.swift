import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What stat(2) returns about a file.
///
/// A stat opens nothing, and so drops no lock (see `OpenFile`).
struct FoundFile: Hashable, Sendable {
    enum Kind: Sendable {
        case regular, directory, link, other

        init(mode: UInt32) {
            // POSIX does not define these numbers; Linux and macOS have the same.
            switch mode & 0o170000 {
            case 0o100000: self = .regular
            case 0o040000: self = .directory
            case 0o120000: self = .link
            default: self = .other
            }
        }
    }

    /// Identifies a file: no two files of one boot have the same pair of numbers at the same time.
    struct Number: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    /// A file system's timestamp, in Unix time.
    struct Time: Hashable, Sendable {
        let seconds: Int64
        let nanoseconds: Int64
    }

    var number: Number
    var kind: Kind
    var size: Int64
    /// The lower twelve bits of the mode.
    var permissions: UInt32
    var owner: UInt32
    var group: UInt32
    var links: UInt64
    /// When the content was last written.
    var modified: Time
    /// When anything about the file was last changed (ctime).
    ///
    /// `OpeningFacts.examineAgain` needs it, since ctime also shows a chmod or chown, and `DirectoryStamp`, since a
    /// directory's ctime shows each new or removed name. No program can set this time, as `touch` sets `modified`.
    var changed: Time

    private init(_ found: bs_found) {
        self.number = Number(device: found.device, inode: found.inode)
        self.kind = Kind(mode: found.mode)
        self.size = found.size
        self.permissions = found.mode & 0o7777
        self.owner = found.owner
        self.group = found.group
        self.links = found.links
        self.modified = Time(seconds: found.modified_seconds, nanoseconds: found.modified_nanoseconds)
        self.changed = Time(seconds: found.changed_seconds, nanoseconds: found.changed_nanoseconds)
    }

    /// The file that a path leads to, through symbolic links; nil if this process can see none.
    init?(_ path: String) {
        var found = bs_found()
        guard unsafe bs_find(path, 1, &found) == 0 else { return nil }
        self.init(found)
    }

    /// An open file.
    init?(descriptor: Int32) {
        var found = bs_found()
        guard unsafe bs_find_open(descriptor, &found) == 0 else { return nil }
        self.init(found)
    }

    /// The file at a path, or the symbolic link itself; nil if there is nothing.
    static func itself(at path: String) throws(BreakerStoreError) -> FoundFile? {
        var found = bs_found()
        let error = unsafe bs_find(path, 0, &found)
        if error == 0 { return FoundFile(found) }
        guard error != ENOENT else { return nil }
        throw BreakerStoreError(systemError: error, doing: "look at", path: path)
    }
}
