import BreakerStore
import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Does each fault of the part `files` to a store's directory and undoes it, and says what became of the files.
final class Floor: Sendable {
    static let legacyFailures = 3

    private struct State {
        var parked = 0
        /// What took the database's place, and its bytes.
        var strangers: [(file: Identity, bytes: [UInt8], mayMove: Bool)] = []
        var substitute: String?
    }

    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64

        init?(_ path: String) {
            var info = stat()
            guard unsafe lstat(path, &info) == 0 else { return nil }
            self.device = UInt64(info.st_dev)
            self.inode = UInt64(info.st_ino)
        }
    }

    /// Anybody but root, where this process may make one.
    let user: uid_t = geteuid() == 0 ? 65_534 : 0
    let clock: SharedClock
    var path: String { "\(self.store)/a.db" }
    private let directory: String
    private let store: String
    private let state = Locked(State())

    init(_ directory: String) throws {
        self.directory = directory
        self.store = "\(directory)/store"
        guard unsafe mkdir(directory, 0o711) == 0, unsafe mkdir("\(directory)/parked", 0o700) == 0 else {
            throw SystemError("make \(directory)")
        }
        self.clock = try SharedClock(path: "\(directory)/clock")
        try self.makeDirectory(self.store)
    }

    func clear() {
        unsafe chmod(self.store, 0o700)
        Directory.remove(self.directory)
    }

    /// The time now, apart from that of every call.
    func tick() -> Int64 { self.clock.tick(1_000) }

    private func own(_ path: String) throws {
        if self.user == 0 { return }
        guard unsafe chown(path, self.user, self.user) == 0 else { throw SystemError("own \(path)") }
    }

    private func makeDirectory(_ path: String) throws {
        guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("make \(path)") }
        try self.own(path)
    }

    // MARK: - Faults

    private static let outcomes = ["", "-wal", "-shm", "-lock", "-board"]

    func begin(_ fault: FootFault, _ random: inout SeededRandom) throws {
        switch fault {
        case .databaseDeleted: unsafe unlink(self.path)
        case .logDeleted: unsafe unlink(self.path + "-wal")
        case .indexDeleted: unsafe unlink(self.path + "-shm")
        case .lockDeleted: unsafe unlink(self.path + "-lock")
        case .boardDeleted: unsafe unlink(self.path + "-board")
        case .allDeleted:
            for outcome in Self.outcomes.shuffled(using: &random) { unsafe unlink(self.path + outcome) }
        case .renamedAway: try self.rename(self.path, to: self.newPlace())
        case .replacedByStore:
            let other = self.newPlace(kept: false)
            try self.makeStore("\(other).db")
            try self.exchange(self.path, "\(other).db")
        case .replacedByGarbage: try self.substitute(Self.garbage(&random), mayMove: true)
        case .replacedByStranger: try self.substitute(self.strangersDatabase(&random), mayMove: false)
        case .directoryMoved: try self.rename(self.store, to: self.newPlace())
        case .directoryDeleted:
            // Its workers may be about to put another file in it.
            while Identity(self.store) != nil { Directory.remove(self.store) }
        case .directoryExchanged:
            let other = self.newPlace()
            try self.makeDirectory(other)
            try self.makeStore("\(other)/a.db")
            try self.exchange(self.store, other)
        case .directoryLocked: unsafe chmod(self.store, 0)
        case .filesLocked:
            for outcome in Self.outcomes { unsafe chmod(self.path + outcome, 0) }
            unsafe unlink(self.path + "-shm")
        }
    }

    func end(_ fault: FootFault) throws -> FootFault.Verdict {
        let place = self.state.withLock { $0.substitute } ?? ""
        switch fault {
        case .databaseDeleted, .logDeleted, .allDeleted, .replacedByStore: return .lost
        case .indexDeleted, .lockDeleted, .boardDeleted: return .kept
        case .renamedAway: return self.putBack(place)
        case .replacedByGarbage, .replacedByStranger: return try self.takeSubstituteAway(place)
        case .directoryMoved:
            try self.rename(place, to: self.store)
            return .kept
        case .directoryDeleted:
            try self.makeDirectory(self.store)
            return .lost
        case .directoryExchanged:
            try self.exchange(self.store, place)
            return .elsewhere
        case .directoryLocked:
            unsafe chmod(self.store, 0o700)
            return .kept
        case .filesLocked:
            for outcome in Self.outcomes { unsafe chmod(self.path + outcome, 0o600) }
            return .kept
        }
    }

    /// Puts the database back unless the workers have made another one.
    private func putBack(_ place: String) -> FootFault.Verdict {
        unsafe ts_rename_if_free(place, self.path) == 0 ? .kept : .lost
    }

    private func takeSubstituteAway(_ place: String) throws -> FootFault.Verdict {
        guard let stranger = self.state.withLock({ $0.strangers.last }) else { return .void }
        // The workers have set it aside, and made another one.
        guard Identity(self.path) == stranger.file else { return stranger.mayMove ? .lost : .void }
        guard unsafe ts_exchange(self.path, place) == 0 else { return .void }
        return Identity(place) == stranger.file ? .kept : .void
    }

    /// A path for something that is not in its place.
    private func newPlace(kept: Bool = true) -> String {
        self.state.withLock {
            $0.parked += 1
            let place = "\(self.directory)/parked/\($0.parked)"
            if kept { $0.substitute = place }
            return place
        }
    }

    private func rename(_ from: String, to: String) throws {
        guard unsafe ts_rename_if_free(from, to) == 0 else { throw SystemError("rename \(from)") }
    }

    private func exchange(_ one: String, _ other: String) throws {
        guard unsafe ts_exchange(one, other) == 0 else { throw SystemError("exchange \(one)") }
    }

    // MARK: - What takes its place

    /// Another store, whose circuit the workers don't know.
    private func makeStore(_ path: String) throws {
        var configuration = CircuitStore.Configuration()
        configuration.clock = TickingClock(shared: self.clock)
        let store = try CircuitStore(path: path, configuration: configuration)
        let breaker = try store.breaker(.init(name: "legacy", trip: .failures(1_000, within: .seconds(86_400))))
        for _ in 0..<Self.legacyFailures { Self.fail(breaker) }
        store.close()
        // The database alone holds it all then: whoever takes a copy leaves the log behind.
        guard SQLiteFile.checkpoint(path) else { throw SystemError("fold the log of \(path)") }
        for outcome in Self.outcomes where Identity(path + outcome) != nil { try self.own(path + outcome) }
    }

    private static func fail(_ breaker: CircuitBreaker) { breaker.recordFailure() }

    private static func garbage(_ random: inout SeededRandom) -> [UInt8] {
        let count = [1, 15, 100, 4_096, 20_000].randomElement(using: &random) ?? 1
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private func strangersDatabase(_ random: inout SeededRandom) throws -> [UInt8] {
        let place = self.newPlace(kept: false)
        let mode = Bool.random(using: &random) ? "WAL" : "DELETE"
        guard
            SQLiteFile.run(
                place,
                "PRAGMA journal_mode = \(mode); CREATE TABLE guest (name TEXT); INSERT INTO guest VALUES ('Ann')"
            )
        else { throw SystemError("make \(place)") }
        guard let bytes = Self.bytes(place) else { throw SystemError("read \(place)") }
        return bytes
    }

    private func substitute(_ bytes: [UInt8], mayMove: Bool) throws {
        let place = self.newPlace()
        let descriptor = unsafe open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("make \(place)") }
        defer { close(descriptor) }
        guard unsafe write(descriptor, bytes, bytes.count) == bytes.count, let file = Identity(place) else {
            throw SystemError("write \(place)")
        }
        try self.own(place)
        self.state.withLock { $0.strangers.append((file, bytes, mayMove)) }
        try self.exchange(self.path, place)
    }

    /// What lies in the store's directory, for those who look for a cause.
    var names: String { Directory.names(in: self.store).sorted().joined(separator: " ") }

    /// Whether each byte of what took the database's place is as it was, wherever it is now.
    func strangersProblems() -> [String] {
        let places =
            Directory.names(in: "\(self.directory)/parked").map { "\(self.directory)/parked/\($0)" }
            + Directory.names(in: self.store).map { "\(self.store)/\($0)" }
        var bytes: [(Identity, String)] = []
        for place in places { if let file = Identity(place) { bytes.append((file, place)) } }
        return self.state.withLock { $0.strangers }.compactMap { stranger in
            guard let place = bytes.first(where: { $0.0 == stranger.file })?.1 else {
                // A directory that was deleted takes all in it along.
                return stranger.mayMove ? nil : "a stranger's file is gone"
            }
            return Self.bytes(place) == stranger.bytes ? nil : "a stranger's file was changed: \(place)"
        }
    }

    private static func bytes(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }
}
