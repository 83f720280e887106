import BreakerTestSupport
import FoundationEssentials
import Testing

/// Asking and healthy calls leave the files byte for byte as they were, which another process checks.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct UntouchedFilesTests {
    @Test(arguments: ["", "consecutive=5"])
    func healthyCallsWriteNothing(rule: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let witness = try place.worker()
        for worker in workers { try await worker.ask("breaker users \(rule)") }
        try await witness.ask("remember \(place.store)")
        for reply in try await workers.ask("call users 10000") {
            #expect(reply.description == "ran=10000 failed=0 refused=0")
        }
        #expect(try await witness.ask("changed \(place.store)").description == "files=4 changed=")
        // So that a witness who sees nothing is noticed.
        try await workers[0].ask("fail users")
        #expect(try await witness.ask("changed \(place.store)")["changed"]?.contains("wal") == true)
    }

    /// Nothing is committed for the sake of counters: a commit would send all processes back to the file.
    @Test func healthyCallsCommitNothing() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(4)
        try await workers.ask("breaker users")
        // A commit changes the first 48 bytes of the wal-index: https://sqlite.org/walformat.html
        func header() -> [UInt8] {
            FileManager.default.contents(atPath: place.store + "-shm").map { Array($0.prefix(48)) } ?? []
        }
        let before = header()
        #expect(before.count == 48)
        for _ in 0..<30 {
            place.clock.advance(by: .seconds(1))
            for reply in try await workers.ask("call users 1000") { #expect(reply.number("ran") == 1_000) }
        }
        #expect(header() == before)
        try await workers[0].ask("fail users")
        #expect(header() != before)
    }

    @Test(arguments: ["closed", "open", "due", "half-open"])
    func askingChangesNothing(state: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let witness = try place.worker()
        try await workers.ask("breaker users failures=2")
        try await workers[0].ask("fail users \(state == "closed" ? 1 : 2)")
        if state == "due" || state == "half-open" { place.clock.advance(by: .seconds(30)) }
        if state == "half-open" { try await workers[0].ask("admit users") }
        let before = try await workers.ask("look users")
        var changed = ""
        // Each worker saves its totals once after the clock was moved, at any moment.
        for _ in 0...workers.count where changed != "files=4 changed=" {
            try await witness.ask("remember \(place.store)")
            try await workers.ask("ask users 50")
            #expect(try await workers.ask("look users") == before)
            changed = try await witness.ask("changed \(place.store)").description
        }
        #expect(changed == "files=4 changed=")
        let isPermitted = state == "closed" || state == "due"
        for look in before { #expect(look["permitted"] == "\(isPermitted)") }
    }

    @Test func refusedCallsWriteNothing() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let witness = try place.worker()
        try await workers.ask("breaker users failures=1")
        try await workers[0].ask("fail users")
        // The first read after a commit notes in the wal-index how far it reads.
        try await workers.ask("call users")
        try await witness.ask("remember \(place.store)")
        for reply in try await workers.ask("call users 1000") { #expect(reply.number("refused") == 1_000) }
        let changed = try await witness.ask("changed \(place.store)").description
        #expect(changed == "files=4 changed=")
    }

    @Test func handlesOfOneNameGrowNothing() async throws {
        let place = try Workplace.here
        let worker = try await place.openWorker()
        let witness = try place.worker()
        try await worker.ask("breaker users")
        try await witness.ask("remember \(place.store)")
        let pages = try #require(try await worker.ask("handles users 1000000").number("pages"))
        #expect(pages < 256, "\(pages) pages more")
        #expect(try await witness.ask("changed \(place.store)").description == "files=4 changed=")
    }
}
