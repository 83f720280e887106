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

/// A file that was created in place of a lost one is given what the lost one said of the circuits of living workers.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RestoredFileTests {
    enum Loss: CaseIterable, Sendable {
        case database, log, index, lock, board, all, directory, garbage, truncation

        func happen(to path: String) {
            switch self {
            case .database: unsafe unlink(path)
            case .log: unsafe unlink(path + "-wal")
            case .index: unsafe unlink(path + "-shm")
            case .lock: unsafe unlink(path + "-lock")
            case .board: unsafe unlink(path + "-board")
            case .all: for ending in ["", "-wal", "-shm", "-lock", "-board"] { unsafe unlink(path + ending) }
            case .directory:
                let directory = StoreFile(at: path).directory
                Directory.remove(directory)
                unsafe mkdir(directory, 0o700)
            case .garbage:
                // Another file, so that nothing is left of the database at its path.
                Files.write(QuarantineTests.garbage, to: path + "-garbage")
                unsafe rename(path + "-garbage", path)
            case .truncation: unsafe truncate(path, 5_000)
            }
        }
    }

    private let place: Workplace
    private let path: String

    init() throws {
        self.place = try Workplace.here
        unsafe mkdir(self.place.directory + "/home", 0o700)
        self.path = self.place.directory + "/home/circuits.db"
    }

    private func worker(_ circuits: String...) async throws -> WorkerProcess {
        let worker = try self.place.worker()
        try await worker.ask("open \(self.path) first-retry=5")
        for circuit in circuits { try await worker.ask("breaker \(circuit) failures=1 recovery=1000") }
        return worker
    }

    private func state(_ circuit: String, _ worker: WorkerProcess) async throws -> String? {
        try await worker.ask("look \(circuit)")["state"]
    }

    private func comesTrue(_ isSo: () async throws -> Bool) async -> Bool {
        let end = ContinuousClock.now + .hangLimit
        while (try? await isSo()) != true {
            if ContinuousClock.now > end { return false }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return true
    }

    private func expect(_ circuit: String, _ state: String, _ worker: WorkerProcess) async throws {
        var found: String?
        let isSo = await self.comesTrue {
            found = try await self.state(circuit, worker)
            return found == state
        }
        #expect(isSo, "\(circuit) is \(found ?? "unknown")")
    }

    /// The new file's first events are news to those who listened when the old one was lost.
    @Test func listenersHearOfTheNewFile() async throws {
        let heard = Mutex<[CircuitEvent.Kind]>([])
        var configuration = CircuitStore.Configuration()
        configuration.onEvent = { event in heard.withLock { $0.append(event.kind) } }
        let store = try CircuitStore(path: self.path, configuration: configuration)
        let breaker = try store.breaker(CircuitBreaker.Config(name: "held"))
        let stream = store.events()
        try { try breaker.hold(.open, by: "ann") }()
        Loss.all.happen(to: self.path)
        for await event in stream where event.kind == .created { break }
        let isHeard = await self.comesTrue { heard.withLock { $0.contains(.created) && $0.contains(.stateRestored) } }
        #expect(isHeard, "\(heard.withLock { $0 })")
        store.close()
    }

    /// Whether another file than this one is at the path, and says so of this worker.
    private func isElsewhere(_ file: String?, _ sql: String) -> Bool {
        guard let now = self.file, now != file else { return false }
        return Foreign.value(self.path, sql) == "1"
    }

    /// Waits until the worker has registered the circuit in another file than this one.
    private func leaves(_ file: String?, _ worker: WorkerProcess, _ circuit: String) async throws {
        let isSo = await self.comesTrue {
            self.isElsewhere(
                file,
                """
                SELECT count(*) FROM registration JOIN circuit ON circuit.id = registration.circuit
                JOIN worker ON worker.id = registration.worker WHERE circuit.name = '\(circuit)' AND pid = \(worker.pid)
                """)
        }
        #expect(isSo)
    }

    /// The incarnation of the file at the path; SQLite would make a missing one.
    private var file: String? {
        StoreFile.size(self.path) ?? 0 > 0 ? Foreign.value(self.path, "SELECT incarnation FROM clock") : nil
    }

    // MARK: - Nothing is lost

    /// No call is let through at any moment, and each refusal is for the reason of before.
    @Test(arguments: Loss.allCases) func holdsAndOpenStatesOutliveALoss(_ loss: Loss) async throws {
        let workers = [try await self.worker("a", "b", "c"), try await self.worker("a", "b", "c")]
        try await workers[0].ask("steps ops hold:a:open")
        try await workers[0].ask("fail b")
        self.place.clock.advance(by: .seconds(3))
        try await workers.ask("call a ; call b")
        let before = try await workers[0].ask("look b")
        #expect(before["state"] == "open")
        loss.happen(to: self.path)
        // A commit notices what a look at the files does not.
        if loss == .truncation { _ = try? await workers[0].ask("breaker d") }
        // For as long as the workers take to notice, and to meet again.
        for _ in 0..<30 {
            for worker in workers {
                #expect(try await worker.ask("call a")["cause"] == "held")
                if loss != .truncation { #expect(try await worker.ask("call b")["cause"] == "open") }
                #expect(try await worker.ask("call c").number("ran") == 1)
            }
            try await Task.sleep(for: .milliseconds(80))
        }
        for worker in workers {
            try await self.expect("a", "held-open", worker)
            // What a process had read some time before the damage may be over.
            if loss == .truncation { continue }
            try await self.expect("b", "open", worker)
            try await self.expect("c", "closed", worker)
            let after = try await worker.ask("look b")
            #expect(after.number("until") == before.number("until"))
            #expect(after.number("trips") == before.number("trips"))
        }
        #expect(Foreign.value(self.path, "SELECT hold_by FROM circuit WHERE name = 'a'") == "ops")
        for worker in workers { #expect(await worker.quit() == 0) }
    }

    @Test func theHistorySaysWhatWasRestored() async throws {
        let worker = try await self.worker("a", "b")
        try await worker.ask("steps ops hold:a:open")
        try await worker.ask("fail b")
        let file = self.file
        Loss.all.happen(to: self.path)
        try await self.leaves(file, worker, "a")
        let created = Foreign.value(self.path, "SELECT reason FROM event WHERE kind = 'created'")
        #expect(created == "in place of a removed file; this worker restored 1 hold and 1 open state")
        let of = "SELECT was || ' ' || becomes || ' ' || coalesce(subject, '-') || ': ' || reason FROM event"
        #expect(
            Foreign.value(self.path, "\(of) WHERE kind = 'stateRestored' AND circuit = 'a'")
                == "closed held-open ops: held open by ops, as a removed file had it")
        #expect(
            Foreign.value(self.path, "\(of) WHERE kind = 'stateRestored' AND circuit = 'b'")
                == "closed open -: open, as a removed file had it")
        #expect(Foreign.value(self.path, "SELECT incarnation FROM predecessor WHERE circuit = 0") == file)
    }

    /// A process that starts just then knows nothing, and creates the file.
    @Test func aFileThatAStrangerHasCreatedIsGivenWhatOthersKnow() async throws {
        let old = try await self.worker("a")
        try await old.ask("hold a open")
        let file = self.file
        old.stop()
        Loss.all.happen(to: self.path)
        let new = try await self.worker("a")
        #expect(try await self.state("a", new) == "closed")
        old.goOn()
        try await self.leaves(file, old, "a")
        try await self.expect("a", "held-open", new)
    }

    /// Its file was removed twice before it came back.
    @Test func aFileInPlaceOfTheOneInBetweenIsGivenItToo() async throws {
        let old = try await self.worker("a")
        try await old.ask("hold a open")
        old.stop()
        Loss.all.happen(to: self.path)
        let new = try await self.worker("a")
        let file = self.file
        Loss.all.happen(to: self.path)
        try await self.leaves(file, new, "a")
        old.goOn()
        try await self.expect("a", "held-open", new)
    }

    #if BREAKERSTORE_HOOKS
    /// Whoever creates the file is killed at this step; another one goes on.
    @Test(arguments: [
        "session.closed", "creation.begin", "creation.file", "migration.commit", "migration.done", "open.logged",
        "creation.filled", "open.registered", "circuits.registering", "circuits.registered",
    ])
    func itsCreatorIsKilled(step: String) async throws {
        let creator = try await self.worker("a", "b")
        let other = try await self.worker("a", "b")
        try await creator.ask("hold a open")
        try await creator.ask("fail b")
        other.stop()
        try await creator.ask("die-at \(step) 1")
        Loss.all.happen(to: self.path)
        _ = await creator.end()
        other.goOn()
        try await self.expect("a", "held-open", other)
        try await self.expect("b", "open", other)
    }

    /// The file is removed again while its circuits are restored.
    @Test func aFileThatIsLostWhileItIsRestoredIsNoLoss() async throws {
        let worker = try await self.worker("a")
        try await worker.ask("hold a open")
        try await worker.ask("stop-at circuits.registering")
        let file = self.file
        Loss.all.happen(to: self.path)
        #expect(
            await self.comesTrue {
                self.isElsewhere(file, "SELECT count(*) FROM worker WHERE pid = \(worker.pid)")
            })
        let second = self.file
        Loss.all.happen(to: self.path)
        try await worker.ask("let-go")
        try await self.leaves(second, worker, "a")
        try await self.expect("a", "held-open", worker)
    }
    #endif

    // MARK: - Nothing is restored wrongly

    /// A command that the database has, and that came before what only the log had, is no later command.
    @Test func anOpenStateOfTheLogOutlivesAnEarlierResetOfTheDatabase() async throws {
        let worker = try await self.worker("a")
        try await worker.ask("fail a")
        self.place.clock.advance(by: .milliseconds(1))
        try await worker.ask("reset a")
        Foreign.run(self.path, "PRAGMA wal_checkpoint(PASSIVE)", keepsLog: true)
        self.place.clock.advance(by: .milliseconds(1))
        try await worker.ask("fail a")
        #expect(try await self.state("a", worker) == "open")
        Loss.log.happen(to: self.path)
        try await worker.ask("breaker b failures=1 recovery=1000 ; healthy 120000")
        #expect(try await self.state("a", worker) == "open")
    }

    @Test func aLaterCommandStands() async throws {
        let (first, late) = (try await self.worker("a", "b"), try await self.worker("a", "b", "c"))
        try await first.ask("hold a open ; hold b open")
        try await late.ask("call a ; call b")
        late.stop()
        let file = self.file
        Loss.all.happen(to: self.path)
        try await self.leaves(file, first, "a")
        try await first.ask("healthy 120000 ; reset a ; release b")
        late.goOn()
        try await self.leaves(file, late, "c")
        try await self.expect("a", "closed", late)
        try await self.expect("b", "closed", late)
    }

    /// The circuit came into the new file by a process that knew nothing of it.
    @Test(arguments: ["reset", "forget", "hold"]) func aCommandInTheNewFileStands(command: String) async throws {
        let late = try await self.worker("a")
        try await late.ask("hold a open")
        late.stop()
        Loss.all.happen(to: self.path)
        let new = try await self.worker("a", "d")
        switch command {
        case "hold": try await new.ask("hold a closed")
        case "forget": try await new.ask("forget a")
        default: try await new.ask("reset a")
        }
        late.goOn()
        #expect(
            await self.comesTrue { try await late.ask("look a").number("workers") == (command == "forget" ? 1 : 2) })
        try await self.expect("a", command == "hold" ? "held-closed" : "closed", new)
    }

    @Test func aWorkerThatWasStoppedForAMinuteOnlyReports() async throws {
        let (first, late) = (try await self.worker("a"), try await self.worker("a", "c"))
        try await late.ask("steps ops hold:c:open")
        late.stop()
        let file = self.file
        Loss.all.happen(to: self.path)
        try await self.leaves(file, first, "a")
        self.place.clock.advance(by: .seconds(61))
        late.goOn()
        try await self.leaves(file, late, "c")
        try await self.expect("c", "closed", late)
        let said = Foreign.value(self.path, "SELECT reason FROM event WHERE kind = 'created' ORDER BY id DESC LIMIT 1")
        #expect(said == "this worker came 61 s later, too late to restore: 'c' held open by ops")
    }

    enum Newcomer: CaseIterable, Sendable { case otherStore, newStoreOfAnotherPath, backup }

    @Test(arguments: Newcomer.allCases) func nothingIsRestoredInAStoreThatWasPutThere(_ newcomer: Newcomer) async throws
    {
        let other = self.place.directory + "/other.db"
        if newcomer == .otherStore { try Stores.make(other) }
        let worker = try await self.worker("a")
        if newcomer == .backup {
            Foreign.run(self.path, "PRAGMA wal_checkpoint(TRUNCATE)", keepsLog: true)
            Files.write(Files.read(self.path) ?? [], to: other)
        }
        self.place.clock.advance(by: .seconds(3_600))
        try await worker.ask("hold a open")
        if newcomer == .newStoreOfAnotherPath {
            let maker = try self.place.worker()
            try await maker.ask("open \(other)")
            try await maker.ask("breaker b")
            #expect(await maker.quit() == 0)
        }
        let events = try await worker.ask("history a held")
        Foreign.run(other, "PRAGMA wal_checkpoint(TRUNCATE)")
        for ending in ["-wal", "-shm"] { unsafe unlink(self.path + ending) }
        #expect(unsafe rename(other, self.path) == 0)
        #expect(events.number("count") == 1)
        #expect(
            await self.comesTrue {
                guard try await worker.ask("history a held").number("count") == 0 else { return false }
                return try await self.state("a", worker) == "closed"
            })
        #expect(Foreign.value(self.path, "SELECT count(*) FROM event WHERE kind = 'stateRestored'") == "0")
    }
}
