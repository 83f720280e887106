import BreakerStore
import CBreakerCommand

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file into which a command writes what a provider has sent as `Retry-After`.
struct RetryAfterFile {
    enum Content {
        /// The command has written nothing.
        case none
        case outage(Verdict)
        /// The file can't be read or understood, for this reason.
        case unusable(String)
    }

    private let path: String
    /// The file before the command ran: what an earlier command has written means nothing now.
    private let before: bc_stamp

    /// A longer file is no header.
    private static let maxBytes = 1_024

    init(path: String) {
        self.path = path
        // The path lives for the whole call.
        self.before = unsafe bc_stamp_of(path)
    }

    /// Reads what the command has written.
    func read() -> Content {
        let after = unsafe bc_stamp_of(self.path)
        guard after.is_there != 0 || self.mayBeWritten else { return .unusable("\(self.path.quoted) has no directory") }
        guard after.is_there != 0, after.is_regular == 0 || !Self.isSame(after, self.before) else { return .none }
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes + 1)
        let count = unsafe bc_read_file(self.path, &bytes, bytes.count)
        guard count >= 0 else {
            let reason = errno == EINVAL ? "it is no regular file" : unsafe String(cString: strerror(errno))
            return .unusable("cannot read \(self.path.quoted): \(reason)")
        }
        if count == 0 { return .none }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline)
        guard count <= Self.maxBytes, lines.count == 1, let header = lines.first,
            let outage = Verdict.outage(retryAfter: String(header))
        else {
            let shown = text.prefix(60).description.quoted
            return .unusable("\(self.path.quoted) has neither seconds nor an HTTP date: \(shown)")
        }
        return .outage(outage)
    }

    /// Whether the directory of the file is there.
    private var mayBeWritten: Bool {
        guard let end = self.path.lastIndex(of: "/"), end != self.path.startIndex else { return true }
        return unsafe access(String(self.path[..<end]), F_OK) == 0
    }

    private static func isSame(_ one: bc_stamp, _ other: bc_stamp) -> Bool {
        one.is_there == other.is_there && one.device == other.device && one.inode == other.inode
            && one.size == other.size
            && one.seconds == other.seconds && one.nanoseconds == other.nanoseconds
    }
}
