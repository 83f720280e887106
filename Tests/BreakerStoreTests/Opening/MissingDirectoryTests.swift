import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A store that may degrade begins in memory where its directory is missing, and uses the file once the directory is
/// there.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct MissingDirectoryTests {
    /// What is in the way of a store in a directory, and how it comes out of the way.
    struct Obstacle: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The path that is opened, below the test's directory.
        let path: String
        /// Where the store is then.
        let place: String
        let code: BreakerStoreError.Code
        let prepare: @Sendable (String) -> Void
        let remove: @Sendable (String) -> Void

        init(
            _ what: String, _ path: String, at place: String? = nil, _ code: BreakerStoreError.Code = .notFound,
            _ prepare: @escaping @Sendable (String) -> Void = { _ in },
            remove: @escaping @Sendable (String) -> Void = { unsafe mkdir("\($0)/missing", 0o700) }
        ) {
            (self.testDescription, self.path, self.place, self.code) = (what, path, place ?? path, code)
            (self.prepare, self.remove) = (prepare, remove)
        }
    }

    static let obstacles: [Obstacle] = [
        Obstacle("no directory", "missing/a.db"),
        Obstacle("two missing directories", "missing/b/a.db") { _ in
        } remove: {
            unsafe mkdir("\($0)/missing", 0o700)
            unsafe mkdir("\($0)/missing/b", 0o700)
        },
        Obstacle("a path of dots", "./missing/../missing//./a.db", at: "missing/a.db"),
        Obstacle("a link whose target is missing", "link/a.db", at: "missing/a.db") {
            unsafe symlink("missing", "\($0)/link")
        },
        Obstacle("links to links, the last one absolute", "link/a.db", at: "missing/a.db") {
            unsafe symlink("./other", "\($0)/link")
            unsafe symlink("\($0)/missing", "\($0)/other")
        },
        Obstacle("the database is a link into it", "a.db", at: "missing/b.db") {
            unsafe symlink("missing/b.db", "\($0)/a.db")
        },
        Obstacle("a file in its place", "missing/a.db") {
            Files.write([], to: "\($0)/missing")
        } remove: {
            unsafe unlink("\($0)/missing")
            unsafe mkdir("\($0)/missing", 0o700)
        },
    ]

    private static func configuration(
        _ change: (inout CircuitStore.Configuration) -> Void = { _ in }
    ) -> CircuitStore.Configuration {
        var configuration = Stores.configuration()
        configuration.whenUnavailable = .degrade
        configuration.firstRetry = .milliseconds(1)
        change(&configuration)
        return configuration
    }

    private static func code(of store: CircuitStore) -> BreakerStoreError.Code? {
        guard case .degraded(since: _, let error) = store.health else { return nil }
        return error.code
    }

    @Test(arguments: obstacles) func usesTheStoreOnceTheDirectoryIsThere(_ obstacle: Obstacle) async throws {
        let place = try Workplace.here
        obstacle.prepare(place.directory)
        let names = Directory.names(in: place.directory)
        let path = "\(place.directory)/\(obstacle.path)"
        let store = try CircuitStore(path: path, configuration: Self.configuration { $0.clock = place.clock })
        defer { store.close() }
        #expect(Self.code(of: store) == obstacle.code)
        #expect("\(store.health)".contains("create the directory first"), "\(store.health)")
        #expect(Directory.names(in: place.directory) == names)
        // Memory guards meanwhile.
        let breaker = try store.breaker(Stores.config(maxFailures: 2))
        await breaker.recordFailure()
        #expect(breaker.isCallPermitted)
        #expect(throws: BreakerStoreError.self) { try store.circuits() }

        obstacle.remove(place.directory)
        #expect(await eventually { store.isHealthy }, "\(store.health)")
        #expect(store.path == "\(place.directory)/\(obstacle.place)")
        // The failure that memory saw is in the file: with one of another process the circuit opens for both.
        let worker = try place.worker()
        try await worker.ask("open \(path)")
        try await worker.ask("breaker a failures=2")
        #expect(await eventually { (try? store.circuit(named: "a"))??.failureCount == 1 })
        try await worker.ask("fail a")
        #expect(!breaker.isCallPermitted)
    }

    /// The path is taken from where the process was when the store was opened.
    @Test func aRelativePathStaysWhereItWas() async throws {
        let directory = try Workplace.here.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            try #require(unsafe chdir(directory) == 0)
            let store = try CircuitStore(path: "missing/a.db", configuration: MissingDirectoryTests.configuration())
            #expect(!store.isHealthy)
            #expect(store.path == directory + "/missing/a.db")
            try #require(unsafe chdir("/") == 0)
            unsafe mkdir(directory + "/missing", 0o700)
            #expect(comesTrue { store.isHealthy })
            #expect(Files.read(directory + "/missing/a.db") != nil)
            store.close()
        }
    }

    /// Nothing below a directory that this process may not enter can be seen.
    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aDirectoryThatIsClosedToThisProcess() async throws {
        let directory = try Workplace.here.directory
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            let closed = directory + "/closed"
            unsafe mkdir(closed, 0o700)
            unsafe chown(closed, 54_311, 54_311)
            unsafe chmod(directory, 0o711)
            Forked.become(54_311, of: 54_311, groups: [])
            unsafe chmod(closed, 0)
            let store = try CircuitStore(
                path: closed + "/inner/a.db", configuration: MissingDirectoryTests.configuration())
            #expect(MissingDirectoryTests.code(of: store) == .permissionDenied, "\(store.health)")
            unsafe chmod(closed, 0o700)
            #expect(comesTrue { MissingDirectoryTests.code(of: store) == .notFound })
            unsafe mkdir(closed + "/inner", 0o700)
            #expect(comesTrue { store.isHealthy })
            store.close()
        }
    }

    /// Two stores of a process share what they have, from the beginning.
    @Test func twoStoresOfAProcessAreOneWorker() async throws {
        let directory = try Workplace.here.directory
        let first = try CircuitStore(path: directory + "/missing/a.db", configuration: Self.configuration())
        defer { first.close() }
        unsafe symlink("missing", directory + "/link")
        let second = try CircuitStore(path: directory + "/link/./a.db", configuration: Self.configuration())
        #expect(second.backend.core === first.backend.core)
        unsafe mkdir(directory + "/missing", 0o700)
        let third = try CircuitStore(path: directory + "/link/a.db", configuration: Self.configuration())
        defer { third.close() }
        #expect(third.backend.core === first.backend.core)
        second.close()
        #expect(await eventually { first.isHealthy && third.isHealthy })
        #expect(try await first.workers().count == 1)
    }

    /// An opening that may not create waits for the file, too.
    @Test func anExistingStoreIsWaitedFor() async throws {
        let place = try Workplace.here
        let path = place.directory + "/missing/a.db"
        let configuration = Self.configuration {
            $0.access = .existing
            $0.clock = place.clock
        }
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        unsafe mkdir(place.directory + "/missing", 0o700)
        #expect(await eventually { "\(store.health)".contains("there is no store") }, "\(store.health)")
        #expect(Directory.names(in: place.directory + "/missing").isEmpty)
        try await place.worker().ask("open \(path)")
        #expect(await eventually { store.isHealthy })
    }

    // MARK: - What can't serve

    /// What comes may be no place for a store: memory goes on, and the health says why.
    @Test(arguments: ["a link", "a link on the way", "a directory in place of the file", "another file system"])
    func staysInMemory(what: String) async throws {
        let directory = try Workplace.here.directory
        let path = directory + "/missing/b/a.db"
        // As seen by this store, whatever is there is on NFS.
        let isThere: @Sendable (String) -> Int64 = { unsafe access($0, F_OK) == 0 ? 0x6969 : 0 }
        let fileSystem = what == "another file system" ? FileSystem(number: isThere) : FileSystem()
        let backend = try Backend(path: path, configuration: Self.configuration(), fileSystem: fileSystem)
        let store = CircuitStore(backend, Self.configuration())
        defer { store.close() }
        #expect(Self.code(of: store) == .notFound)
        for name in ["/real", "/real/b"] { unsafe mkdir(directory + name, 0o700) }
        switch what {
        case "a link":
            unsafe mkdir(directory + "/missing", 0o700)
            unsafe symlink("../real/b", directory + "/missing/b")
        case "a link on the way": unsafe symlink("real", directory + "/missing")
        case "a directory in place of the file":
            for name in ["/other", "/other/b", "/other/b/a.db"] { unsafe mkdir(directory + name, 0o700) }
            unsafe rename(directory + "/other", directory + "/missing")
        default: for name in ["/missing", "/missing/b"] { unsafe mkdir(directory + name, 0o700) }
        }
        let code: BreakerStoreError.Code = what == "another file system" ? .unsupportedFileSystem : .unsafePath
        #expect(await eventually { Self.code(of: store) == code }, "\(store.health)")
        #expect(Directory.names(in: directory + "/real/b").isEmpty)
        #expect(Directory.names(in: directory + "/missing/b").allSatisfy { $0 == "a.db" })
        let breaker = try store.breaker(Stores.config(maxFailures: 1))
        await breaker.recordFailure()
        #expect(!breaker.isCallPermitted)
        guard what != "a directory in place of the file" else { return }
        // The place is put right.
        unsafe unlink(directory + (what == "a link" ? "/missing/b" : "/missing"))
        for name in ["/missing", "/missing/b"] { unsafe mkdir(directory + name, 0o700) }
        guard what != "another file system" else { return }
        #expect(await eventually { store.isHealthy }, "\(store.health)")
        #expect(Directory.names(in: directory + "/real/b").isEmpty)
    }

    /// These are no places for a store, whenever they are looked at; nor does a store that only reads begin without
    /// a file.
    @Test(arguments: [
        ("missing/", Access.readWrite, BreakerStoreError.Code.unsafePath), ("missing/..", .readWrite, .unsafePath),
        ("missing/.", .existing, .unsafePath), ("", .readWrite, .unsafePath), ("loop/a.db", .readWrite, .unsafePath),
        ("missing/a.db", .readOnly, .notFound),
    ])
    func isRefused(name: String, access: Access, code: BreakerStoreError.Code) throws {
        let directory = try Workplace.here.directory
        unsafe symlink("loop", directory + "/loop")
        let error = #expect(throws: BreakerStoreError.self) {
            try CircuitStore(path: "\(directory)/\(name)", configuration: Self.configuration { $0.access = access })
        }
        #expect(error?.code == code, "\(error as Any)")
    }

    /// Health tells each reason once.
    @Test func eachReasonIsReportedOnce() async throws {
        let directory = try Workplace.here.directory
        let heard = Locked<[String]>([])
        let configuration = Self.configuration {
            $0.onHealth = { health in
                let word = if case .degraded(_, let error) = health { "\(error.code)" } else { "\(health)" }
                heard.withLock { $0.append(word) }
            }
        }
        let store = try CircuitStore(path: directory + "/missing/a.db", configuration: configuration)
        #expect(await eventually { heard.withLock { $0 } == ["notFound"] })
        unsafe symlink(".", directory + "/missing")
        #expect(await eventually { heard.withLock { $0 } == ["notFound", "unsafePath"] })
        unsafe unlink(directory + "/missing")
        unsafe mkdir(directory + "/missing", 0o700)
        #expect(await eventually { heard.withLock { $0.last } == "healthy" })
        store.close()
        let all = ["notFound", "unsafePath", "healthy", "closed"]
        #expect(await eventually { heard.withLock { $0.filter { $0 != "notFound" } } == Array(all.dropFirst()) })
        #expect(heard.withLock { $0.count } <= all.count + 1, "the link may have been seen gone in between")
    }
}
