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

/// The thread that counts waits for no lock and no disk: other processes would miss its successes meanwhile.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SlowSetupTests {
    private static let rule = TripRule.failureRate(0.5, minimumCalls: 1_000, within: .seconds(60))

    private static func succeeded(_ core: StoreCore) -> [UInt64] {
        (BoardReader(at: core.file.board)?.totals() ?? [:]).values.map(\.succeeded).sorted()
    }

    /// Another process holds the setup lock for long, so a new circuit gets no cells: its calls wait for them, and the
    /// calls of other circuits are published all the same.
    @Test func aNewCircuitKeepsNoOtherFromBeingPublished() async throws {
        let fixture = try StoreFixture(busyTimeout: .seconds(600))
        let core = try #require(fixture.core)
        let known = try fixture.breaker("known", trip: Self.rule)
        await #expect(throws: CallFailure.self) { try await known.run { throw CallFailure() } }
        let setup = try ForeignSetupLock(of: core.file.path)
        let new = try fixture.breaker("new", trip: Self.rule)
        for _ in 0..<7 { try await new.run {} }
        for _ in 0..<100 { try await known.run {} }
        #expect(await eventually { Self.succeeded(core) == [100] })
        setup.letGo()
        #expect(await eventually { Self.succeeded(core) == [7, 100] })
    }

    /// Another thread has taken counts from the lanes, and is stopped before it adds them to the board: they would be
    /// missing in the answer.
    @Test func whileCountsAreMovedNothingIsAnswered() async throws {
        await #expect(processExitsWith: .success) { [path = try Workplace.here.store as String] in
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            let breaker = try store.breaker(.init(name: "a", trip: Self.rule))
            guard let core = store.backend.core, let circuit = core.circuits[CircuitName("a")] else { exit(2) }
            // The board has the circuit's cells, and this process has a seat.
            let _: Void? = try? breaker.run { throw CallFailure() }
            var seats: Seats?
            while seats == nil { seats = core.countingThread.bell.seats }
            guard let seats else { exit(3) }
            func hasAnswered(_ asked: UInt64) -> Bool { seats.taken[0]?.answered == asked }
            let (next, goOn) = (Signal(), Signal())
            let isTaken = Atomic<Bool>(false)
            // The thread that counts may take them first: then once more.
            while !isTaken.load(ordering: .acquiring) {
                Hook.install { name in
                    guard name == "counts.taken", !core.rounds.isRunning else { return }
                    Hook.install(nil)
                    isTaken.store(true, ordering: .releasing)
                    next.signal()
                    _ = goOn.wait(for: .forEver)
                }
                try breaker.run {}
                _ = StoreThread().start {
                    core.publish(circuit.counts)
                    next.signal()
                }
                guard next.wait(for: .hangLimit) else { exit(6) }
            }
            let asked = seats.ask()
            for _ in 0..<20 { _ = core.publishRateCounts() }
            if hasAnswered(asked) { exit(4) }
            goOn.signal()
            let end = Deadline(after: .hangLimit)
            while !hasAnswered(asked) {
                _ = core.publishRateCounts()
                if end.isOver { exit(5) }
            }
            exit(0)
        }
    }
}
