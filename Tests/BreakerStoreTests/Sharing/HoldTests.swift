import BreakerTestSupport
import Testing

/// An operator's word rules for all processes, until it is taken back or its time is over.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct HoldTests {
    /// The first and the third worker are killed, the second one leaves in order.
    @Test(arguments: ["open", "closed"])
    func survivesRestarts(state: String) async throws {
        let place = try Workplace.here
        for restart in 0..<3 {
            let worker = try await place.openWorker()
            try await worker.ask("breaker users failures=1")
            if restart == 0 { try await worker.ask("hold users \(state)") }
            try await Self.expect(worker, held: state)
            if restart.isMultiple(of: 2) { await worker.die() } else { #expect(await worker.quit() == 0) }
            place.clock.advance(by: .seconds(1_000_000))
        }
        try await Self.releaseAndCall(place)
    }

    @Test(arguments: ["open", "closed"])
    func survivesReboots(state: String) async throws {
        let place = try Workplace.here
        for boot in 0..<3 {
            let worker = try await place.openWorker()
            try await worker.ask("breaker users failures=1")
            if boot == 0 { try await worker.ask("hold users \(state)") }
            try await Self.expect(worker, held: state)
            await worker.die()
            place.clock.reboot(downFor: .seconds(100))
            // Whatever the host's clock reads after it.
            place.clock.stepWallTime(by: .seconds(boot == 0 ? 1_000_000 : -2_000_000))
        }
        try await Self.releaseAndCall(place)
    }

    /// All that is left of its time remains over restarts and reboots.
    @Test(arguments: ["open", "closed"], [true, false])
    func timeOfAHoldGoesOn(state: String, reboots: Bool) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=1")
        try await first.ask("hold users \(state) for=100")
        place.clock.advance(by: .seconds(30))
        // The file knows that time has passed.
        try await first.ask("breaker mail")
        await first.die()
        if reboots { place.clock.reboot(downFor: .seconds(20)) } else { place.clock.advance(by: .seconds(20)) }

        let second = try await place.openWorker()
        try await second.ask("breaker users failures=1")
        try await Self.expect(second, held: state, wait: 50_000_000)
        place.clock.advance(by: .microseconds(49_999_999))
        try await Self.expect(second, held: state, wait: 1)
        place.clock.advance(by: .microseconds(1))
        #expect(try await second.ask("fail users").number("failed") == 1)
        #expect(try await second.ask("look users")["state"] == "open")
        #expect(try await second.ask("history users released").description == "count=1 ordered=true")
    }

    /// A running worker has an answer at hand that the operator's word makes wrong.
    @Test func runningWorkersObeyAtTheirNextCall() async throws {
        let workers = try await Workplace.here.openWorkers(2)
        let (caller, boss) = (workers[0], workers[1])
        try await workers.ask("breaker users failures=1")
        for round in 0..<30 {
            #expect(try await caller.ask("call users 2").number("ran") == 2, "round \(round)")
            try await boss.ask("hold users open")
            #expect(try await caller.ask("call users 2").description == "ran=0 failed=0 refused=2 cause=held")
            try await boss.ask("hold users closed")
            #expect(try await caller.ask("fail users 2").number("failed") == 2, "round \(round)")
            #expect(try await caller.ask("look users").number("failures") == 0)
            try await boss.ask("release users")
            #expect(try await caller.ask("fail users 2").description.hasPrefix("ran=1 failed=1 refused=1 cause=open"))
            try await boss.ask("reset users")
        }
        #expect(try await caller.ask("history users tripped").number("count") == 30)
    }

    /// Each refusal names the operator and the reason, wherever the command was given; not an error from before.
    @Test func refusalsOfAllProcessesNameTheOperator() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let (caller, boss) = (workers[0], workers[1])
        try await workers.ask("breaker users failures=2")
        try await caller.ask("fail users")
        try await boss.ask("hold users open by=ann reason=maintenance")
        let held = "ran=0 failed=0 refused=2 cause=held by=ann reason=maintenance"
        #expect(try await caller.ask("call users 2").description == held)
        try await boss.ask("hold users open for=10 by=bob")
        let next = "ran=0 failed=0 refused=2 cause=held wait=10000000 by=bob"
        #expect(try await caller.ask("call users 2").description == next)
        // A process that starts now has read nothing but this circuit.
        let late = try await place.openWorker()
        try await late.ask("breaker users failures=2")
        #expect(try await late.ask("call users")["by"] == "bob")
    }

    enum Beneath: CaseIterable {
        case closed, open, halfOpen
    }

    /// The one who keeps the answer and the one who never asked before see it end in the same instant.
    @Test(arguments: Beneath.allCases, ["open", "closed"])
    func endsByItselfToTheMicrosecond(beneath: Beneath, state: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(3)
        let (asker, quiet, prober) = (workers[0], workers[1], workers[2])
        try await workers.ask("breaker users failures=1 recovery=30")
        switch beneath {
        case .closed: break
        case .open: try await prober.ask("fail users")
        case .halfOpen:
            try await prober.ask("fail users")
            place.clock.advance(by: .seconds(30))
            #expect(try await prober.ask("begin users").number("ran") == 1)
        }
        let failures = try #require(try await quiet.ask("look users").number("failures"))
        try await prober.ask("hold users \(state) for=10")
        try await Self.expect(asker, held: state, wait: 10_000_000, failures: failures)
        place.clock.advance(by: .microseconds(9_999_999))
        try await Self.expect(asker, held: state, wait: 1, failures: failures)
        #expect(try await quiet.ask("look users")["state"] == "held-\(state)")
        #expect(try await quiet.ask("look users")["permitted"] == "\(state == "closed")")
        place.clock.advance(by: .microseconds(1))

        switch beneath {
        case .closed:
            #expect(try await quiet.ask("look users")["state"] == "closed")
            // From now on calls count again.
            #expect(try await asker.ask("fail users").number("failed") == 1)
            #expect(try await quiet.ask("call users")["wait"] == "30000000")
        case .open:
            #expect(try await quiet.ask("look users")["permitted"] == "false")
            for worker in [asker, quiet] {
                #expect(try await worker.ask("call users").description.hasSuffix(" cause=open wait=20000000"))
            }
        case .halfOpen:
            // The slot was taken away: it is due, and the old probe's word no longer counts.
            #expect(try await quiet.ask("look users")["permitted"] == "true")
            #expect(try await asker.ask("begin users").number("ran") == 1)
            #expect(try await quiet.ask("call users")["cause"] == "probing")
            try await prober.ask("finish fail")
            #expect(try await quiet.ask("look users")["state"] == "half-open")
            try await asker.ask("finish succeed")
            #expect(try await quiet.ask("call users").number("ran") == 1)
            #expect(try await quiet.ask("history users released").number("count") == 1)
        }
    }

    private static func expect(
        _ worker: WorkerProcess,
        held state: String,
        wait: Int? = nil,
        failures: Int = 0
    ) async throws {
        for _ in 0..<2 {
            let reply = try await worker.ask("fail users")
            if state == "open" {
                #expect(reply["cause"] == "held")
                #expect(reply.number("wait") == wait)
            } else {
                #expect(reply.number("failed") == 1)
            }
        }
        let look = try await worker.ask("look users")
        #expect(look["state"] == "held-\(state)")
        #expect(look.number("failures") == failures)
        #expect(look["permitted"] == "\(state == "closed")")
    }

    private static func releaseAndCall(_ place: Workplace) async throws {
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("release users")
        #expect(try await workers[1].ask("call users").number("ran") == 1)
        #expect(try await workers[1].ask("fail users").number("failed") == 1)
        #expect(try await workers[0].ask("call users")["cause"] == "open")
        #expect(try await workers[0].ask("history users held").number("count") == 1)
        #expect(try await workers[0].ask("history users released").number("count") == 1)
    }
}
