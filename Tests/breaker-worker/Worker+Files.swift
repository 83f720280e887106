import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files of a store that this process does not have open: to close them drops all locks that a process has on them.
extension Worker {
    /// `remember <path>`: keeps the bytes of the store's files.
    func remember(_ command: Command) throws -> String {
        self.remembered = try self.files(command.word(0))
        return self.remembered.map { "\($0.key)=\($0.value.count)" }.sorted().joined(separator: " ")
    }

    /// `changed <path>`: which files differ from what was remembered.
    func changed(_ command: Command) throws -> String {
        let now = try self.files(command.word(0))
        let names = Set(now.keys).union(self.remembered.keys)
        let changed = names.filter { now[$0] != self.remembered[$0] }.sorted()
        return "files=\(now.count) changed=\(changed.joined(separator: ","))"
    }

    /// `locked <path> <worker>`: whether anybody holds a worker's byte.
    func locked(_ command: Command) throws -> String {
        "locked=\(unsafe ts_is_locked(try command.word(0) + "-lock", Int64(try command.number(1))))"
    }

    private func files(_ path: String) throws -> [String: [UInt8]] {
        guard (try? self.store) == nil else { throw Missing(what: "a process without a store") }
        var files: [String: [UInt8]] = [:]
        for (name, suffix) in [("db", ""), ("wal", "-wal"), ("shm", "-shm"), ("lock", "-lock")] {
            files[name] = try self.bytes(path + suffix)
        }
        return files
    }

    private func bytes(_ path: String) throws -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw Missing(what: "a readable \(path)") }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}
