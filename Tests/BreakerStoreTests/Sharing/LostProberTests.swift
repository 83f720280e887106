import BreakerTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A prober that says no more: a dead one's slot is free at once, a halted one's with its lease.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LostProberTests {
    /// The clock stands still: the next call of anybody has the dead one's slot, and only one has it.
    @Test(arguments: [1, 3], ["begin", "admit"])
    func slotOfTheDeadIsFree(limit: Int, form: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(limit + 3)
        try await workers.ask("breaker users failures=1 limit=\(limit) successes=2")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        let probers = Array(workers[..<limit])
        let others = Array(workers[limit...])
        for prober in probers { #expect(try await prober.ask("\(form) users").number("ran") == 1) }
        for other in others { #expect(try await other.ask("call users")["cause"] == "probing") }
        let look = try await others[0].ask("look users")

        await probers[limit - 1].die()
        let free = try await others[0].ask("look users")
        #expect(free["permitted"] == "true")
        #expect(free.number("probes") == limit - 1)
        #expect(try await others[0].ask("\(form) users").number("ran") == 1)
        for other in others[1...] { #expect(try await other.ask("call users")["cause"] == "probing") }
        for prober in probers.dropLast() { #expect(try await prober.ask("call users")["cause"] == "probing") }
        // Dying is no verdict, and no lease ran out.
        let after = try await others[1].ask("look users")
        for key in ["state", "epoch", "since", "trips", "probes"] { #expect(after[key] == look[key], "\(key)") }
        #expect(try await others[1].ask("history users probeExpired").number("count") == 0)
        #expect(try await others[1].ask("history users proberDied").number("count") == 1)

        // The successes are those of the living.
        try await others[0].ask(form == "begin" ? "finish succeed" : "succeed")
        #expect(try await others[1].ask("look users")["state"] == "half-open")
        #expect(try await others[1].ask("call users").number("ran") == 1)
        #expect(try await others[2].ask("look users")["state"] == "closed")
    }

    /// What the dead one had started lives on, and inherits no lock.
    @Test(arguments: ["fork", "program"])
    func childrenKeepNoSlot(kind: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await workers[0].ask("begin users").number("ran") == 1)
        let child = try #require(try await workers[0].ask("leave-child \(kind)").number("pid"))
        defer { kill(Int32(child), SIGKILL) }
        #expect(try await workers[1].ask("call users")["cause"] == "probing")
        await workers[0].die()
        #expect(kill(Int32(child), 0) == 0)
        #expect(try await workers[1].ask("call users").number("ran") == 1)
        #expect(try await workers[1].ask("workers").number("count") == 1)
    }

    /// While all others call on and on, each death frees as many slots as the dead one had, and no more.
    @Test func crowdTakesTheSlotsOfTheDead() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(8)
        try await workers.ask("breaker users failures=1 limit=3")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        let path = place.directory + "/crowd"
        let crowd = try Crowd(path: path)
        try await withThrowingTaskGroup { group in
            for worker in workers { group.addTask { _ = try? await worker.ask("press \(path) users 16 0") } }
            // The operations of the living, by their numbers.
            var running = [1, 2, 3]
            var living = workers
            for death in 1...5 {
                let began = try #require(running.max())
                await crowd.wait { crowd[.began] >= began && running.allSatisfy { crowd.process(of: $0) != nil } }
                let refused = crowd[.refused]
                await crowd.wait { crowd[.refused] >= refused + 100 || crowd[.began] > began }
                try #require(crowd[.began] == began, "before death \(death)")
                let prober = try #require(living.firstIndex { $0.pid == crowd.process(of: running[0]) })
                let victim = living.remove(at: prober)
                await victim.die()
                running.removeAll { crowd.process(of: $0) == victim.pid }
                running += began + 1...began + 3 - running.count
            }
            let witness = living[0]
            crowd[.isOver] = 1
            crowd[.mayEnd] = .max
            try await group.waitForAll()
            #expect(try await witness.ask("look users")["state"] == "closed")
            #expect(try await witness.ask("workers").number("count") == 3)
            #expect(try await witness.ask("history users probing").number("count") == 1)
        }
        #expect(crowd[.strange] == 0)
    }

    @Test func slotsOfAllTheDeadAreFree() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(6)
        try await workers.ask("breaker users failures=1 limit=3")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        for worker in workers[..<3] { #expect(try await worker.ask("begin users").number("ran") == 1) }
        for worker in workers[..<3] { await worker.die() }
        // Nobody was there to see it: a newcomer's sweep frees them as well.
        let newcomer = try await place.openWorker()
        try await newcomer.ask("breaker users failures=1 limit=3")
        #expect(try await newcomer.ask("look users")["probes"] == "0")
        let replies = try await (workers[3...] + [newcomer]).ask("admit users")
        #expect(replies.count { $0.number("ran") == 1 } == 3)
        #expect(replies.count { $0["cause"] == "probing" } == 1)
        #expect(try await newcomer.ask("history users proberDied").number("count") == 3)
    }

    /// As after a restart by a service manager: the death of the one is in the history before the failure of the other.
    @Test func aNewcomerRecordsTheDeathThatItFinds() async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=1")
        try await first.ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await first.ask("begin users").number("ran") == 1)
        await first.die()
        for _ in 1...2 { _ = try await place.openWorker() }
        let last = try await place.openWorker()
        try await last.ask("breaker users failures=1")
        try await last.ask("fail users")
        let history = Foreign.value(
            place.store,
            """
            SELECT group_concat(kind || ' ' || pid || ' ' || coalesce(subject, '-'))
            FROM (SELECT * FROM event ORDER BY id)
            """)
        let events = [
            "tripped \(first.pid) -", "probing \(first.pid) -",
            "proberDied \(last.pid) breaker-worker[\(first.pid)]", "reopened \(last.pid) -",
        ]
        #expect(history == events.joined(separator: ","))
    }

    /// Who closes the store has not died.
    @Test func aProberThatClosesTheStoreLeavesNoSlot() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await workers[0].ask("admit users").number("ran") == 1)
        try await workers[0].ask("close")
        #expect(Foreign.value(place.store, "SELECT count(*) FROM probe") == "0")
        #expect(try await workers[1].ask("call users").number("ran") == 1)
        #expect(try await workers[1].ask("history users proberDied").number("count") == 0)
    }

    enum Meanwhile: CaseIterable {
        case nobodyCalled, slotTaken, closed
    }

    @Test(arguments: Meanwhile.allCases, ["succeed", "fail"])
    func slotOfTheHaltedIsFreeWithItsLease(meanwhile: Meanwhile, ending: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(3)
        let (halted, other, witness) = (workers[0], workers[1], workers[2])
        try await workers.ask("breaker users failures=1 lease=20")
        try await other.ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await halted.ask("begin users").number("ran") == 1)
        halted.stop()
        // Halted is not dead.
        #expect(try await other.ask("call users")["cause"] == "probing")
        place.clock.advance(by: .microseconds(19_999_999))
        #expect(try await other.ask("call users")["cause"] == "probing")
        #expect(try await witness.ask("look users")["permitted"] == "false")
        #expect(try await witness.ask("look users").number("probes") == 1)
        place.clock.advance(by: .microseconds(1))
        let free = try await witness.ask("look users")
        #expect(free["permitted"] == "true")
        #expect(free.number("probes") == 0)
        switch meanwhile {
        case .nobodyCalled: break
        case .slotTaken, .closed:
            #expect(try await other.ask("begin users").number("ran") == 1)
            #expect(try await witness.ask("call users")["cause"] == "probing")
            if meanwhile == .closed { try await other.ask("finish succeed") }
        }
        let before = try await witness.ask("look users")

        async let answer = halted.ask("finish \(ending)")
        halted.goOn()
        // Its caller has what the operation gave, whatever the circuit makes of it.
        #expect(try await answer["ended"] == (ending == "succeed" ? "returned" : "Boom"))
        let after = try await witness.ask("look users")
        for key in ["state", "epoch", "since", "trips", "failures"] { #expect(after[key] == before[key], "\(key)") }
        #expect(try await witness.ask("history users probeExpired").description == "count=1 ordered=true")

        switch meanwhile {
        case .nobodyCalled: #expect(try await witness.ask("call users").number("ran") == 1)
        case .slotTaken: try await other.ask("finish succeed")
        case .closed: break
        }
        #expect(try await witness.ask("look users")["state"] == "closed")
        #expect(try await witness.ask("history users closed").number("count") == 1)
        #expect(try await witness.ask("history users reopened").number("count") == 0)
    }
}
