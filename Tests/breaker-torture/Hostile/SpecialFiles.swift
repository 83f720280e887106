import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Things that are no files of a store, at every name that a store has, before it is opened and while it is open.
struct SpecialFiles {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    private static let outcomes = ["", "-wal", "-shm", "-lock", "-journal", "-board"]

    /// What is put where a name leads to, beside the real file's new place.
    private static let kinds: [(name: String, make: @Sendable (String, HostilePlace) throws -> Void)] = [
        ("FIFO", { path, _ in try Self.check(unsafe mkfifo(path, 0o666), path) }),
        ("socket", { path, _ in try Self.makeSocket(path) }),
        ("directory", { path, _ in try Self.check(unsafe mkdir(path, 0o755), path) }),
        ("link to /dev/zero", { path, _ in try Self.symbolic("/dev/zero", path) }),
        ("link to /dev/null", { path, _ in try Self.symbolic("/dev/null", path) }),
        ("link to /dev/full", { path, _ in try Self.symbolic("/dev/full", path) }),
        (
            "link to a FIFO",
            { path, place in
                try Self.check(unsafe mkfifo(place.store + "/fifo", 0o666), path)
                try Self.symbolic(place.store + "/fifo", path)
            }
        ),
        ("link to itself", { path, _ in try Self.symbolic(path, path) }),
        ("dangling link", { path, place in try Self.symbolic(place.store + "/nowhere", path) }),
        ("link to the real file", { path, place in try Self.symbolic(place.store + "/real", path) }),
        ("hard link", { path, place in try Self.check(unsafe link(place.store + "/real", path), path) }),
        ("empty file", { path, _ in try FileBytes.write([], to: path) }),
        ("file of one byte", { path, _ in try FileBytes.write([0], to: path) }),
        (
            "file that nobody may read",
            { path, place in
                try FileBytes.write(Array("secret".utf8), to: path)
                try Self.check(unsafe chmod(path, 0), path)
            }
        ),
    ]

    func cases() -> [HostileCase] {
        let store = self.stock.stores[0]
        var cases: [HostileCase] = []
        for outcome in Self.outcomes {
            for kind in Self.kinds {
                let name = "a \(kind.name) at a.db\(outcome)"
                let make: @Sendable (HostilePlace) throws -> Void = { place in
                    let path = place.path + outcome
                    // A journal has no real file.
                    if unsafe rename(path, place.store + "/real") != 0 {
                        try FileBytes.write([], to: place.store + "/real")
                    }
                    try kind.make(path, place)
                }
                var rest = HostileCase(kind: "special files", name: name) { place in
                    _ = try store.write(to: place.store, nil)
                    try make(place)
                }
                if kind.name.contains("link"), !outcome.isEmpty { rest.judge = { Self.adviceOfLink(outcome, $1) } }
                var open = HostileCase(kind: "special files while open", name: name) { place in
                    _ = try store.write(to: place.store, nil)
                }
                open.strike = make
                cases += [rest, open]
            }
        }
        return cases
    }

    /// Whoever is told to remove something must be told what.
    private static func adviceOfLink(_ outcome: String, _ runs: [ToolRun]) -> [String] {
        runs.prefix(1).compactMap { run in
            guard run.said.contains("remove") || run.said.contains("link"), !run.said.contains("a.db\(outcome)") else {
                return nil
            }
            return "the advice does not name a.db\(outcome): \(run.said.replacing("\n", with: " "))"
        }
    }

    // MARK: - System calls

    private static func check(_ code: Int32, _ path: String) throws {
        guard code == 0 else { throw SystemError("make \(path)") }
    }

    private static func symbolic(_ target: String, _ path: String) throws {
        try self.check(unsafe symlink(target, path), path)
    }

    private static func makeSocket(_ path: String) throws {
        #if canImport(Darwin)
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw SystemError("make a socket") }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8CString)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            unsafe bytes.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        let code = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try self.check(code, path)
    }
}
