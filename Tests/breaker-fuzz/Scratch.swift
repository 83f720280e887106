import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory of this process, with one store's files in it.
///
/// Whoever started the process removes the directory: libFuzzer ends processes in many ways.
struct Scratch: Sendable {
    private let directory: String
    /// Where the database is, whether or not there is one.
    let store: String
    private let temporary: String

    /// Makes a directory, and lets `$TMPDIR` lead into it.
    init() throws {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/breaker-fuzz-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("make a directory in \(base)") }
        try self.init(in: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
        unsafe setenv("TMPDIR", self.temporary, 1)
    }

    /// Uses a directory that is there, and leaves `$TMPDIR`, which the other tests of the process use.
    init(in made: String) throws {
        guard let resolved = unsafe realpath(made, nil) else { throw SystemError("resolve \(made)") }
        defer { unsafe free(resolved) }
        self.directory = unsafe String(cString: resolved)
        self.store = self.directory + "/files/fuzz.db"
        self.temporary = self.directory + "/temporary"
        for path in [self.directory + "/files", self.temporary] {
            guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("make \(path)") }
        }
    }

    /// Makes these the files of the store, each named by the ending of its path, and no others.
    func place(_ files: [String: [UInt8]]) throws {
        for name in Directory.names(in: self.directory + "/files") {
            let ending = String(name.dropFirst("fuzz.db".count))
            if files[ending] == nil { Directory.remove("\(self.directory)/files/\(name)") }
        }
        for (ending, bytes) in files { try Self.write(bytes, to: self.store + ending) }
    }

    /// Makes sure that the files are what was placed, and that nothing was left in the temporary directory.
    func requireUntouched(_ files: [String: [UInt8]]) throws {
        try self.requireNothingTemporary()
        let names = Directory.names(in: self.directory + "/files")
        try require(names == files.keys.map { "fuzz.db" + $0 }.sorted(), "the store's directory holds \(names)")
        for (ending, bytes) in files {
            try require(Self.read(self.store + ending) == bytes, "fuzz.db\(ending) was changed")
        }
    }

    func requireNothingTemporary() throws {
        let names = Directory.names(in: self.temporary)
        try require(names.isEmpty, "the temporary directory holds \(names)")
    }

    /// Nil if there is no such file.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: max(size, 0))
        return unsafe pread(descriptor, &bytes, bytes.count, 0) == size ? bytes : nil
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("create \(path)") }
        defer { close(descriptor) }
        guard unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw SystemError("write \(path)")
        }
    }
}
