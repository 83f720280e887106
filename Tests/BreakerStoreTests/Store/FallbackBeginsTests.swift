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

/// Memory begins with what this process has last read of the circuit, and with its own failures.
@Suite(.timeLimit(.minutes(10))) struct FallbackBeginsTests {
    /// What keeps a process from the file.
    enum Loss: CaseIterable, Codable, Sendable {
        case close, fork, removal

        /// Runs `body` where the file can't be used; `body` returns what was wrong, or nil.
        func run(_ fixture: StoreFixture, _ body: @escaping @Sendable () -> String?) async throws {
            switch self {
            case .close:
                fixture.store.close()
                #expect(body() == nil)
            case .fork:
                let end = Forked.run {
                    guard let wrong = body() else { return 0 }
                    Forked.say(wrong)
                    return 1
                }
                #expect(end == .exited(0))
            case .removal:
                let file = try #require(fixture.core?.file)
                // No new file can be made there, so that memory guards until the test ends.
                for path in [file.path, file.log, file.index] { Files.remove(path) }
                #expect(unsafe mkdir(file.path, 0o700) == 0)
                let core = try #require(fixture.core)
                #expect(
                    await eventually {
                        core.requestMaintenance()
                        // Until the connections are closed, the removed file can be read.
                        return !fixture.isHealthy && core.answers.identity == nil
                    })
                let wrong = body()
                #expect(wrong == nil)
                Files.remove(file.path)
            }
        }
    }

    /// How a call ends: through, or refused for this cause.
    private static func answer(_ breaker: CircuitBreaker) -> RefusalCause? {
        do throws(CircuitOpenError) {
            try breaker.admit().discard()
            return nil
        } catch {
            return error.cause
        }
    }

    private static func check(_ breaker: CircuitBreaker, _ cause: RefusalCause?, _ when: String) -> String? {
        let answer = Self.answer(breaker)
        let isPermitted = breaker.isCallPermitted
        return answer == cause && isPermitted == (cause == nil) ? nil : "\(when): \(String(describing: answer))"
    }

    @Test(arguments: Loss.allCases) func aHoldWithoutAnEndRefusesUntilAReset(_ loss: Loss) async {
        await #expect(processExitsWith: .success) { [loss = loss as Loss] in
            for command in ["reset", "release"] {
                let fixture = try StoreFixture()
                let breaker = try fixture.breaker()
                try await breaker.hold(.open, by: "ops", reason: "double charges")
                #expect(Self.answer(breaker) == .held)
                try await loss.run(fixture) {
                    fixture.clock.advance(by: .seconds(1_000_000))
                    if let wrong = Self.check(breaker, .held, "after days") { return wrong }
                    if breaker.state != .held(.open, until: nil) { return "\(breaker.state)" }
                    do {
                        try breaker.run {}
                        return "a call ran"
                    } catch {
                        if (error as? CircuitOpenError)?.hold?.by != "ops" { return "who is not known" }
                    }
                    // The file does not get the command, but this process obeys.
                    do throws(BreakerStoreError) {
                        if command == "reset" { try breaker.reset() } else { try breaker.release() }
                        return "the command did not throw"
                    } catch {
                        return Self.check(breaker, nil, "after the \(command)")
                    }
                }
            }
        }
    }

    @Test(arguments: Loss.allCases) func aHoldWithAnEndRefusesUntilItsEnd(_ loss: Loss) async {
        await #expect(processExitsWith: .success) { [loss = loss as Loss] in
            let fixture = try StoreFixture()
            let breaker = try fixture.breaker()
            try await breaker.hold(.open, for: .seconds(60))
            #expect(Self.answer(breaker) == .held)
            try await loss.run(fixture) {
                fixture.clock.advance(by: .seconds(59))
                if let wrong = Self.check(breaker, .held, "before its end") { return wrong }
                fixture.clock.advance(by: .seconds(1))
                return Self.check(breaker, nil, "at its end")
            }
        }
    }

    @Test(arguments: Loss.allCases) func anOpenCircuitRefusesUntilItsEndAndThenProbes(_ loss: Loss) async {
        await #expect(processExitsWith: .success) { [loss = loss as Loss] in
            let fixture = try StoreFixture()
            let breaker = try fixture.breaker(trip: .failures(1, within: .seconds(60)))
            await breaker.recordFailure(Boom())
            #expect(Self.answer(breaker) == .open)
            try await loss.run(fixture) {
                fixture.clock.advance(by: .seconds(29))
                if let wrong = Self.check(breaker, .open, "before its end") { return wrong }
                fixture.clock.advance(by: .seconds(1))
                guard let probe = try? breaker.admit() else { return "no probe" }
                if let wrong = Self.check(breaker, .probing, "beside the probe") { return wrong }
                probe.succeed()
                return Self.check(breaker, nil, "after the probe")
            }
        }
    }

    /// Memory does not know whether the prober lives.
    @Test(arguments: Loss.allCases) func aHalfOpenCircuitIsOpenAndDue(_ loss: Loss) async {
        await #expect(processExitsWith: .success) { [loss = loss as Loss] in
            let fixture = try StoreFixture()
            let breaker = try await fixture.dueBreaker()
            let probe = try synchronously { try breaker.admit() }
            #expect(Self.answer(breaker) == .probing)
            try await loss.run(fixture) {
                guard let own = try? breaker.admit() else { return "no probe" }
                if let wrong = Self.check(breaker, .probing, "beside the probe") { return wrong }
                own.fail(Boom())
                return Self.check(breaker, .open, "after the probe")
            }
            probe.discard()
        }
    }

    @Test(arguments: Loss.allCases) func itsOwnFailuresCount(_ loss: Loss) async {
        await #expect(processExitsWith: .success) { [loss = loss as Loss] in
            let fixture = try StoreFixture()
            let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
            await breaker.recordFailure(Boom())
            try? synchronously { try breaker.run { throw Boom() } }
            #expect(breaker.failureCount == 2)
            try await loss.run(fixture) {
                if let wrong = Self.check(breaker, nil, "before the third failure") { return wrong }
                if breaker.failureCount != 2 { return "\(breaker.failureCount) failures" }
                breaker.recordFailure(Boom())
                return Self.check(breaker, .open, "after the third failure")
            }
        }
    }

    /// Not those that a success has forgotten, nor those of before a reset.
    @Test(arguments: ["success", "reset"]) func forgottenFailuresDoNotCount(forgottenBy: String) async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .consecutiveFailures(2))
        await breaker.recordFailure(Boom())
        fixture.clock.advance(by: .seconds(1))
        if forgottenBy == "success" { await breaker.recordSuccess() } else { try await breaker.reset() }
        #expect(Self.answer(breaker) == nil)
        fixture.store.close()
        await breaker.recordFailure(Boom())
        #expect(Self.answer(breaker) == nil)
        await breaker.recordFailure(Boom())
        #expect(Self.answer(breaker) == .open)
    }

    /// While the file can be read and not written, another process may end a hold, or begin one.
    @Test func itBeginsAgainWithALaterEpoch() throws {
        let now = StoreTime(microseconds: 1_000_000)
        let config = CircuitBreaker.Config(name: "a", trip: .failures(3, within: .seconds(60)))
        let circuit = SharedCircuit(ConfigBox(config))
        func read(_ epoch: Epoch, held: Bool) {
            var stored = Circuit(rules: Rules(config), at: epoch.latestStart)
            if held { stored.hold = Circuit.Hold(state: .open, since: now) }
            let row = CircuitRow(id: 1, incarnation: 1, group: nil, lastUsed: 0, circuit: stored)
            _ = circuit.update(SharedCircuit.LastRead(row, at: now, StoreClock(ManualHostClock())), if: { true })
        }
        func isRefused() -> Bool {
            circuit.changeInMemory(at: now, offset: 0) { circuit, moment, _ in
                circuit.callArrived(at: moment, claiming: .init(token: 1, worker: 0)) == .refuse(.held, until: nil)
            }
        }
        #expect(!isRefused())
        for (epoch, held) in [(1, true), (2, false), (3, true)] as [(Epoch, Bool)] {
            read(epoch, held: held)
            #expect(isRefused() == held)
        }
        // An operator's command to memory holds as long as the file says nothing new.
        circuit.changeInMemory(at: now, offset: 0) { circuit, moment, _ in circuit.reset(at: moment.now, reason: nil) }
        read(3, held: true)
        #expect(!isRefused())
    }

    /// The file was never read when memory began, and could be read for a moment later.
    @Test(arguments: [false, true]) func itsFailuresStayAfterAFirstReading(held: Bool) throws {
        let now = StoreTime(microseconds: 1_000_000)
        let config = CircuitBreaker.Config(name: "a", trip: .failures(3, within: .seconds(60)))
        let circuit = SharedCircuit(ConfigBox(config))
        func fail(_ sequence: Int64) {
            circuit.changeInMemory(at: now, offset: 0) { circuit, moment, failures in
                let report = Report(worker: 1, sequence: sequence, epoch: circuit.epoch, at: now)
                _ = circuit.callFailed(report, at: moment, among: failures)
            }
        }
        func answer() -> Circuit.Answer {
            circuit.changeInMemory(at: now, offset: 0) { circuit, _, _ in circuit.answer(at: now) { _ in true } }
        }
        for sequence in 1...2 { fail(Int64(sequence)) }
        var stored = Circuit(rules: Rules(config), at: StoreTime(microseconds: 5))
        if held { stored.hold = Circuit.Hold(state: .open, since: now) }
        let row = CircuitRow(id: 1, incarnation: 1, group: nil, lastUsed: 0, circuit: stored)
        _ = circuit.update(SharedCircuit.LastRead(row, at: now, StoreClock(ManualHostClock())), if: { true })
        #expect(answer() == (held ? .refuse(.held, until: nil) : .proceed))
        fail(3)
        #expect(answer() == (held ? .refuse(.held, until: nil) : .refuse(.open, until: now.adding(30_000_000))))
    }

    /// The file in its place has another clock.
    @Test func theEndOfAHoldIsTheSameInstantByAnotherClock() throws {
        let config = CircuitBreaker.Config(name: "a", trip: .failures(3, within: .seconds(60)))
        var stored = Circuit(rules: Rules(config), at: StoreTime(microseconds: 1_000))
        stored.hold = Circuit.Hold(state: .open, since: stored.since, until: StoreTime(microseconds: 1_060))
        let row = CircuitRow(id: 1, incarnation: 1, group: nil, lastUsed: 0, circuit: stored)
        let circuit = SharedCircuit(ConfigBox(config))
        let clock = StoreClock(ManualHostClock())
        clock.offset = 900
        _ = circuit.update(SharedCircuit.LastRead(row, at: stored.since, clock), if: { true })
        let hold = circuit.changeInMemory(at: StoreTime(microseconds: 50_130), offset: 50_000) { circuit, _, _ in
            circuit.hold
        }
        #expect(hold?.until == StoreTime(microseconds: 50_160))
    }
}
