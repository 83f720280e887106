import BreakerStore
import FoundationEssentials
import Testing

/// The code in the README and the articles is the code of this folder, and does what is said of it.
@Suite struct SnippetTests {
    @Test func eachBlockIsCompiledHere() throws {
        let snippets = Set(try DocumentedCode.snippets().map(\.code))
        let blocks = try DocumentedCode.blocks()
        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(snippets.contains(block.code), "\(block.place): no snippet of the tests reads\n\(block.code)")
        }
    }

    @Test func eachSnippetIsInADocument() throws {
        let blocks = Set(try DocumentedCode.blocks().map(\.code))
        for snippet in try DocumentedCode.snippets() {
            #expect(blocks.contains(snippet.code), "\(snippet.place): no document shows it")
        }
    }

    @Test func readmeForms() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let circuit = try store.breaker(.init(name: "users"))
        let (user, response, name) = try await ReadmeSnippets.forms(circuit, API())
        #expect(user == "Ada" && response.status == 503 && name == "Ada")
        #expect(circuit.failureCount == 1)
        try await ReadmeSnippets.permit(circuit, API(error: HTTPError(status: 500)))
        #expect(await eventually { circuit.failureCount == 2 })
    }

    @Test func readmeRulesAndOperating() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let payments = try ReadmeSnippets.rules(store)
        await payments.recordFailure(HTTPError(status: 404))
        #expect(payments.failureCount == 0)
        await payments.recordFailure(HTTPError(status: 500))
        #expect(payments.failureCount == 1)
        try ReadmeSnippets.operate(store)
        #expect(payments.state == .closed)
        #expect(try await store.history(of: "payments").map(\.kind) == [.released, .held, .reset])
    }

    @Test func sharing() throws {
        let path = FileManager.default.temporaryDirectory.path + "/snippets-\(UInt64.random(in: 0 ... .max)).db"
        defer {
            for suffix in ["", "-wal", "-shm", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let store = try SharingSnippets.open(path)
        defer { store.close() }
        for suffix in ["", "-wal", "-shm", "-lock"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions]
            #expect(mode.map { "\($0)" } == "\(0o660)", "\(suffix)")
        }
        _ = try store.breaker(.init(name: "payments"))
        _ = try store.breaker(.init(name: "users"))
        #expect(try SharingSnippets.look(path).map(\.name) == ["payments"])
        #expect(try store.workers().map(\.name) == ["shop-worker"])
    }

    @Test(.timeLimit(.minutes(1))) func watchingEndsWithTheStore() async throws {
        let store = try StoreFixture.makeStore()
        let watcher = Task { await SharingSnippets.watch(store) }
        store.close()
        await watcher.value
    }

    @Test func reliability() throws {
        #expect(ReliabilitySnippets.durability().durability == .everyCommit)
        let store = try StoreFixture.makeStore()
        #expect(ReliabilitySnippets.health(store) == "shared")
        store.close()
        #expect(ReliabilitySnippets.health(store) == "closed, guarded in memory")
        let states = try ReliabilitySnippets.reboot()
        guard case .open(let before) = states.first, case .open(let after) = states.last else {
            Issue.record("not open: \(states)")
            return
        }
        // Asked for on one wall clock, before and after the recovery time: the same date, past by then.
        #expect(states.count == 2 && abs(after.timeIntervalSince(before)) < 0.001)
    }

    @Test func thresholds() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        _ = try store.breaker(ThresholdSnippets.busy())
        _ = try store.breaker(ThresholdSnippets.quiet())
        _ = try ThresholdSnippets.slow(store)
        #expect(try store.circuits().map(\.name) == ["export", "payments", "reports"])
        let quota = try store.breaker(.init(name: "quota"), calls: ThresholdSnippets.outage())
        synchronously { quota.recordFailure(HTTPError(status: 500)) }
        #expect(quota.state == .closed)
        synchronously { quota.recordFailure(HTTPError(status: 429, retryAfter: .seconds(7))) }
        let error = #expect(throws: CircuitOpenError.self) { try synchronously { try quota.run {} } }
        #expect(error?.retryAfter == .seconds(7))
    }

    @Test func moving() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let users = try store.breaker(MovingSnippets.config(), calls: MovingSnippets.strategy())
        await users.recordFailure(ConnectionRefused())
        #expect(users.failureCount == 0)
        let circuit = try MovingSnippets.retries(store)
        for _ in 0..<3 { await circuit.recordFailure() }
        #expect(try await MovingSnippets.call(circuit, API()) == nil)
    }
}
