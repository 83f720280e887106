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

/// What the first calls of a process find: no board yet, and no thread that looks at windows.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct FirstCallTests {
    private struct Failure: Error {}

    private static func open(_ path: String, window: Duration) throws -> (CircuitStore, CircuitBreaker) {
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        return (store, try store.breaker(.init(name: "a", trip: .failureRate(1, minimumCalls: 1_000, within: window))))
    }

    private static func fail(_ breaker: CircuitBreaker) { let _: Void? = try? breaker.run { throw Failure() } }

    private static func succeed(_ breaker: CircuitBreaker) { let _: Void? = try? breaker.run {} }

    private static func failures(in file: StoreFile) -> [UInt64] {
        BoardReader(at: file.board)?.totals().values.map(\.failed) ?? []
    }

    /// Otherwise a kill would lose an acknowledged failure: it would be in the process's own memory.
    @Test func whoFailsWhileTheBoardIsOpenedWaitsForIt() async throws {
        await #expect(processExitsWith: .success) { [path = try Workplace.here.store as String] in
            let isBeingMade = Signal()
            // Whoever makes the board: one of the calls, or the thread that prepares it for the thread that counts.
            Hook.install { name in
                guard name == "board.filled" else { return }
                isBeingMade.signal()
                // Time for the other to come; the numbers are the same if that thread comes later.
                usleep(200_000)
            }
            let (store, breaker) = try Self.open(path, window: .seconds(60))
            let other = StoreThread()
            _ = other.start { Self.fail(breaker) }
            guard isBeingMade.wait(for: .hangLimit) else { exit(2) }
            Self.fail(breaker)
            guard other.waitForEnd(until: Deadline(after: .hangLimit)) else { exit(3) }
            let totals = BoardReader(at: store.backend.file.board)?.totals() ?? [:]
            exit(totals.values.map(\.failed) == [2] ? 0 : 1)
        }
    }

    /// Another process opens the store just now, and takes its time.
    @Test func whoFailsWhileTheStoreIsBeingOpenedWaitsForThat() throws {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .hangLimit
        let store = try CircuitStore(path: try Workplace.here.store, configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(
            .init(name: "a", trip: .failureRate(1, minimumCalls: 1_000, within: .seconds(60))))
        let descriptor = OpenFile(store.backend.file.lock, O_RDWR)?.detachDescriptor() ?? -1
        defer { close(descriptor) }
        while !ByteLock.lock(descriptor, at: 0) { usleep(1_000) }
        _ = StoreThread().start {
            usleep(200_000)
            ByteLock.unlock(descriptor, at: 0)
        }
        Self.fail(breaker)
        #expect(BoardReader(at: store.backend.file.board)?.totals().values.map(\.failed) == [1])
    }

    /// The store's own thread looks around each second only: others would see a second's calls too late.
    @Test func aShortWindowIsReadFromTheFirstCallOn() async throws {
        let (store, breaker) = try Self.open(Workplace.here.store, window: .milliseconds(800))
        defer { store.close() }
        let core = try #require(store.backend.core)
        let (isStuck, goOn) = (Signal(), Signal())
        // The store's own thread publishes nothing: it is stuck in a commit until the calls are published.
        core.post(until: Deadline(after: .forEver)) { _ in
            isStuck.signal()
            _ = goOn.wait(for: .forEver)
        }
        defer { goOn.signal() }
        #expect(isStuck.wait(for: .hangLimit))
        synchronously { for _ in 0..<10 { Self.succeed(breaker) } }
        let board = store.backend.file.board
        #expect(await eventually { BoardReader(at: board)?.totals().values.first?.succeeded == 10 })
    }

    // MARK: - A board that is late

    /// Another process opens the store, and takes longer than a failure of a circuit without a window waits.
    @Test func whatWasCountedWhileTheBoardWasLateIsReportedByItsProcess() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failures(100, within: .seconds(60)))
        let other = try LockFile(path: core.file.lock, creatingWith: nil, owner: nil)
        try other.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
            for _ in 0..<2 { synchronously { breaker.recordFailure() } }
        }
        #expect(Self.failures(in: core.file).isEmpty && core.counting.isPrivate)
        fixture.clock.advance(by: .seconds(1))
        // Nobody calls meanwhile.
        core.publishAllCounts()
        #expect(!core.counting.isPrivate)
        synchronously { breaker.recordFailure() }
        #expect(Self.failures(in: core.file) == [1])
        core.saveCountersIfDue()
        fixture.clock.advance(by: .seconds(600))
        core.saveCountersIfDue()
        #expect(await eventually { breaker.totals.failed == 3 })
        let rows = "SELECT group_concat(failed) FROM (SELECT failed FROM counters ORDER BY failed)"
        #expect(Foreign.value(core.file.path, rows) == "1,2")
    }

    /// What the file was told stays there: the board would have it once more.
    @Test func whatTheFileHasIsNotMoved() async throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failures(100, within: .seconds(60)))
        let other = try LockFile(path: core.file.lock, creatingWith: nil, owner: nil)
        try other.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
            synchronously { breaker.recordFailure() }
            core.saveCountersIfDue()
            fixture.clock.advance(by: .seconds(600))
            core.saveCountersIfDue()
        }
        #expect(await eventually { Foreign.value(core.file.path, "SELECT sum(failed) FROM counters") == "1" })
        await breaker.recordFailure()
        core.publishAllCounts()
        #expect(Self.failures(in: core.file) == [1])
        #expect(breaker.totals.failed == 2)
    }

    // MARK: - Ticks

    /// Otherwise the failures of that moment would be all the calls that there are, and trip the circuit.
    @Test func whoDecidesWaitsForCallsThatAreBeingMoved() async throws {
        await #expect(processExitsWith: .success) { [path = try Workplace.here.store as String] in
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            let breaker = try store.breaker(
                .init(name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(60))))
            guard let core = store.backend.core else { exit(4) }
            Self.fail(breaker)
            let isMoving = Signal()
            Hook.install { name in
                guard name == "counts.taken" else { return }
                isMoving.signal()
                // Time for the failures to come; the numbers are the same if they come later.
                usleep(300_000)
            }
            for _ in 0..<100 { Self.succeed(breaker) }
            let other = StoreThread()
            _ = other.start { core.publishAllCounts() }
            guard isMoving.wait(for: .hangLimit) else { exit(2) }
            for _ in 0..<30 { Self.fail(breaker) }
            guard other.waitForEnd(until: Deadline(after: .hangLimit)) else { exit(3) }
            exit(breaker.state == .closed ? 0 : 1)
        }
    }

    /// The circuit trips and recovers while a thread is about to move calls: those of the new epoch are in its window.
    @Test func callsOfTheNewEpochAreInItsWindow() async throws {
        await #expect(processExitsWith: .success) { [path = try Workplace.here.store as String] in
            var configuration = Stores.configuration()
            let clock = ManualHostClock()
            configuration.clock = clock
            let store = try CircuitStore(path: path, configuration: configuration)
            let breaker = try store.breaker(
                .init(
                    name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(10)),
                    recovery: RecoveryRule(timeout: .seconds(30))))
            guard let core = store.backend.core else { exit(4) }
            Self.succeed(breaker)
            let isMoving = Signal()
            let goOn = Signal()
            let thread = StoreThread()
            let isFirst = Atomic<Bool>(true)
            Hook.install { name in
                guard name == "counts.moving", isFirst.exchange(false, ordering: .relaxed) else { return }
                isMoving.signal()
                _ = goOn.wait(for: .hangLimit)
            }
            _ = thread.start { core.publishAllCounts() }
            guard isMoving.wait(for: .hangLimit) else { exit(2) }
            for _ in 0..<20 { Self.fail(breaker) }
            guard breaker.state.isOpen else { exit(5) }
            clock.advance(by: .seconds(30))
            Self.succeed(breaker)
            for _ in 0..<10 { Self.succeed(breaker) }
            goOn.signal()
            guard thread.waitForEnd(until: Deadline(after: .hangLimit)) else { exit(3) }
            for _ in 0..<10 { Self.fail(breaker) }
            exit(breaker.state.isOpen ? 0 : 1)
        }
    }

    // MARK: - Forks

    /// A child of `fork` guards itself, also where its parent has counted on the board before.
    @Test func aChildGuardsByTheSameRule() async {
        await #expect(processExitsWith: .success) {
            let directory = try Files.makeDirectory()
            defer { Files.remove(directory) }
            let store = try CircuitStore(path: directory + "/circuits.db", configuration: Stores.configuration())
            let breaker = try store.breaker(
                .init(name: "a", trip: .failureRate(0.5, minimumCalls: 10, within: .seconds(60))))
            for _ in 0..<3 { Self.fail(breaker) }
            let child = Forked.run {
                for _ in 0..<20 { Self.fail(breaker) }
                do {
                    try breaker.run {}
                    return 1
                } catch {
                    return error is CircuitOpenError ? 0 : 2
                }
            }
            exit(child == .exited(0) && breaker.state == .closed ? 0 : 1)
        }
    }
}
