import BreakerTestSupport
import Synchronization
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Programs of two versions beside each other: the configuration that was registered last rules, whatever befalls the
/// files, and nobody brings back what it knew before.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct DeploymentTests {
    /// A cleaner takes a side file away: each process opens the same database anew.
    @Test(arguments: ["-shm", "-wal", "-lock"])
    func reopeningRevertsNoDeployment(file: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers[0].ask("breaker users failures=2 recovery=30")
        try await workers[0].ask("breaker mail failures=2 recovery=30")
        try await workers[1].ask("breaker users failures=9 recovery=30")
        try await workers[1].ask("forget mail")
        // What only the log holds would be gone with it.
        Foreign.copyLog(of: place.store)
        unsafe unlink(place.store + file)
        let reader = try place.worker()
        for worker in workers { try await self.wait(for: worker, in: place, reader) }
        #expect(try await self.row("SELECT rules ->> '$.trip.count' FROM circuit WHERE name = 'users'", reader) == 9)
        #expect(try await self.row("SELECT count(*) FROM circuit WHERE name = 'mail'", reader) == 0)
        #expect(try await self.row("SELECT count(*) FROM registration", reader) == 2)
    }

    /// In a new file the circuits are as they were in force.
    @Test func newFileHasWhatWasInForce() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers[0].ask("breaker users failures=2 recovery=30")
        try await workers[1].ask("breaker users failures=9 recovery=30")
        try await workers[0].ask("call users")
        #expect(await workers[1].quit() == 0)
        for ending in ["", "-wal", "-shm"] { unsafe unlink(place.store + ending) }
        let reader = try place.worker()
        try await self.wait(for: workers[0], in: place, reader)
        #expect(try await self.row("SELECT rules ->> '$.trip.count' FROM circuit WHERE name = 'users'", reader) == 9)
    }

    /// Until this worker has told the history that the store is back.
    private func wait(for worker: WorkerProcess, in place: Workplace, _ reader: WorkerProcess) async throws {
        let sql = "SELECT count(*) FROM event WHERE kind = 'restored' AND pid = \(worker.pid)"
        // For a moment there is no file.
        while (try? await self.row(sql, reader)) ?? 0 == 0 { await Task.yield() }
    }

    private func row(_ sql: String, _ reader: WorkerProcess) async throws -> Int? {
        try await reader.ask("query \(try Workplace.here.store) \(sql)").number("row")
    }

    // MARK: - What meets a locked file

    private struct Locked {
        let clock = ManualHostClock()
        let store: CircuitStore
        let breaker: CircuitBreaker
        let lock: Foreign

        init(_ path: String) throws {
            var configuration = CircuitStore.Configuration()
            configuration.busyTimeout = .milliseconds(50)
            configuration.openingPatience = .forEver
            configuration.firstRetry = .milliseconds(5)
            configuration.clock = self.clock
            let config = Stores.config(maxFailures: 3)
            try Stores.patiently(path, self.clock) { _ = try $0.breaker(config) }
            self.store = try CircuitStore(path: path, configuration: configuration)
            self.breaker = try self.store.breaker(config)
            self.lock = Foreign(path, keepsLog: true)
            self.lock.run("BEGIN IMMEDIATE")
        }
    }

    @Test(arguments: [false, true])
    func aLockedFileGetsTheConfigLater(isAskedTwice: Bool) async throws {
        let path = try Workplace.here.store
        let locked = try Locked(path)
        defer { locked.store.close() }
        // The file is locked until they are registered: with the patience of an opening that would hang.
        for _ in 0..<(isAskedTwice ? 2 : 1) { _ = try locked.store.breaker(Stores.config(maxFailures: 7)) }
        #expect(!locked.store.isHealthy)
        locked.lock.run("ROLLBACK")
        #expect(await eventually { Foreign.value(path, "SELECT rules ->> '$.trip.count' FROM circuit") == "7" })
        #expect(await eventually { locked.breaker.config.trip == .failures(7, within: .seconds(60)) })
    }

    /// The circuit's row, as no version of this library writes it: who meets it deletes it.
    private static let damage = "UPDATE circuit SET epoch = -1;"

    @Test func rowThatWasRepairedHasNoNewerConfig() async throws {
        let path = try Workplace.here.store
        let locked = try Locked(path)
        defer { locked.store.close() }
        _ = try locked.store.breaker(Stores.config(maxFailures: 7))
        #expect(!locked.store.isHealthy)
        locked.clock.advance(by: .seconds(1))
        locked.lock.run("\(Self.damage) COMMIT")
        let healed = "SELECT count(*) FROM event WHERE circuit = 'a' AND reason LIKE 'its row %'"
        #expect(await eventually { Foreign.value(path, healed) == "1" })
        #expect(await eventually { Foreign.value(path, "SELECT rules ->> '$.trip.count' FROM circuit") == "7" })
    }

    @Test func newerConfigOfAnotherIsLeftInForce() async throws {
        let path = try Workplace.here.store
        let locked = try Locked(path)
        defer { locked.store.close() }
        _ = try locked.store.breaker(Stores.config(maxFailures: 7))
        #expect(!locked.store.isHealthy)
        locked.clock.advance(by: .seconds(1))
        let now = try #require(locked.store.backend.core?.clock.now.microseconds)
        locked.lock.run(
            """
            UPDATE circuit SET rules = json_set(rules, '$.trip.count', 9); UPDATE clock SET reserved = \(now);
            INSERT INTO event (circuit, kind, at, was) VALUES ('a', 'configured', \(now), 'closed'); COMMIT
            """)
        #expect(await eventually { locked.store.isHealthy })
        // What waits in the queue is committed before this.
        try synchronously { try locked.store.patiently { try $0.reset("a") } }
        #expect(Foreign.value(path, "SELECT rules ->> '$.trip.count' FROM circuit") == "9")
    }

    #if BREAKERSTORE_HOOKS
    /// The store's thread takes no config that a caller is just registering for one that could not be stored.
    ///
    /// It would register the circuit once more, which another process may have forgotten meanwhile.
    @Test func registersNothingTwice() async throws {
        let path = try Workplace.here.store
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            let core = try #require(store.backend.core)
            let isDone = Atomic<Bool>(false)
            Hook.install { name in
                guard name == "commit.done", !isDone.exchange(true, ordering: .relaxed) else { return }
                // As the store's thread does when it looks around.
                core.storeUnstored()
                Foreign.run(path, "DELETE FROM registration; DELETE FROM circuit", keepsLog: true)
            }
            _ = try store.breaker(Stores.config())
            // What waits in the queue is committed before this.
            try synchronously { try core.commit(until: Deadline(after: .hangLimit)) { _ in } }
            #expect(Foreign.value(path, "SELECT count(*) FROM circuit") == "0")
            store.close()
        }
    }
    #endif

    @Test func fallbackGuardsByTheRulesInForce() async throws {
        let path = try Workplace.here.store
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .milliseconds(50)
        configuration.clock = clock
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(Stores.config(maxFailures: 9))
        try Stores.patiently(path, clock) { _ = try $0.breaker(Stores.config(maxFailures: 2)) }
        try synchronously { try breaker.run {} }
        let lock = Foreign(path, keepsLog: true)
        lock.run("BEGIN IMMEDIATE")
        defer { lock.run("ROLLBACK") }
        for _ in 0..<2 { synchronously { breaker.recordFailure() } }
        #expect(throws: CircuitOpenError.self) { try synchronously { try breaker.run {} } }
    }
}

extension Stores {
    /// Runs `body` with a store on the file that waits for as long as a busy machine needs.
    static func patiently(_ path: String, _ clock: ManualHostClock, _ body: (CircuitStore) throws -> Void) throws {
        var configuration = Self.configuration()
        configuration.clock = clock
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        try body(store)
    }
}
