import BreakerStore
import BreakerTestSupport
import Foundation
import Synchronization
import Testing

/// The recipes do what is said of them.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RecipeTests {
    @Test func answersOfAService() async throws {
        let place = try Workplace.here
        let service = try place.start("/usr/bin/env", ["python3", Self.script("http_service.py")])
        let port = try #require(try await service.ask("port").number("port"))
        let pages = "http get recipe http://127.0.0.1:\(port)"
        let client = try place.worker()
        try await client.ask("open \(place.store) system-clock")
        try await client.ask("breaker recipe")
        let store = try CircuitStore(path: place.store)
        defer { store.close() }
        #expect(try await client.ask("\(pages)/404").description == "status=404")
        #expect(try await store.circuit(named: "recipe")?.failureCount == 0)
        #expect(try await client.ask("\(pages)/503").description == "bad=503")
        #expect(try await client.ask("\(pages)/429").description == "bad=429")
        #expect(try await store.circuit(named: "recipe")?.failureCount == 2)
        #expect(try await store.circuit(named: "recipe")?.lastError == "status 429")
        #expect(try await client.ask("\(pages)/429/100").description == "bad=429")
        #expect(try #require(try await client.ask("\(pages)/200").number("retry-after")) >= 80)
        try await store.reset("recipe")
        #expect(try await client.ask("http execute recipe 404").description == "status=404")
        #expect(try await client.ask("http execute recipe 500").description == "status=500")
        #expect(try await store.circuit(named: "recipe")?.failureCount == 1)
        #expect(try await client.ask("http execute recipe 429 100").description == "status=429")
        #expect(try #require(try await client.ask("http execute recipe 200").number("retry-after")) >= 80)
        #expect(await client.quit() == 0)
    }

    @Test func tenants() async throws {
        let webhooks = try RecipeSnippets.Webhooks(path: try Workplace.here.store)
        defer { webhooks.store.close() }
        for _ in 0..<5 {
            for tenant in 1...4 { try? await webhooks.post("hello", to: tenant) }
        }
        #expect(try await webhooks.troubled() == ["webhook of 2", "webhook of 4"])
        await #expect(throws: CircuitOpenError.self) { try await webhooks.post("hello", to: 2) }
    }

    /// A pager that is started again tells of what happened meanwhile, once.
    @Test func pager() async throws {
        let place = try Workplace.here
        let store = try CircuitStore(path: place.store, configuration: Stores.configuration())
        defer { store.close() }
        let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(1)))
        await users.recordFailure()
        try await users.reset()

        #expect(try await self.pages(0) == [])
        await users.recordFailure()
        try await users.reset()
        await users.recordFailure()
        let pages = try await self.pages(2)
        #expect(pages.count == 2 && pages.allSatisfy { $0.contains("tripped 'users'") }, "\(pages)")
        try await users.reset()
        await users.recordFailure()
        #expect(try await self.pages(1).count == 1)
    }

    /// What a pager says that is ended once it has dealt with the newest event.
    private func pages(_ count: Int) async throws -> [String] {
        let place = try Workplace.here
        var configuration = Stores.configuration()
        configuration.access = .readOnly
        let store = try CircuitStore(path: place.store, configuration: configuration)
        let newest = try await store.history(limit: 1).first?.id
        let pages = Locked<[String]>([])
        let notes = place.directory + "/pager"
        let pager = RecipeSnippets.Pager(store: store, notes: notes) { text in pages.withLock { $0.append(text) } }
        async let end: Void = pager.run()
        let last = newest.map { "\($0)" }
        let isDone = await eventually { (try? String(contentsOfFile: notes, encoding: .utf8)) == last }
        #expect(isDone)
        store.close()
        try await end
        return pages.withLock { $0 }
    }

    @Test func logs() async throws {
        let logger = RecipeSnippets.Logger(label: "logs")
        try await self.makeHistory { RecipeSnippets.log(&$0, &$1, to: logger) }
        let lines = await self.told(4) { $0.hasPrefix("logs ") }
        #expect(lines.contains { $0.hasPrefix("logs debug: a call of logged failed after ") }, "\(lines)")
        #expect(lines.contains("logs notice: logged tripped reason=1 failure, the last: HTTPError"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("logs debug: a call of logged refused after ") }, "\(lines)")
        #expect(lines.contains("logs notice: the store of circuits is closed"), "\(lines)")
    }

    /// A store whose file is lost is an alarm, and one that was closed is none.
    @Test func metrics() async throws {
        func loseFile(of store: CircuitStore) async throws {
            #expect(await self.told(1) { $0.hasPrefix("circuit_events") }.count == 1)
            let folder = URL(fileURLWithPath: store.path).deletingLastPathComponent()
            try FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension("away"))
            #expect(await !self.told(1) { $0 == "circuit_store_degraded = 1" }.isEmpty)
        }
        try await self.makeHistory({ RecipeSnippets.measure(&$0, &$1) }, beforeClosing: loseFile)
        // The store may report twice that it is degraded: the count of the lines does not say that the last has come.
        #expect(await !self.told(1) { $0 == "circuit_store_degraded = 0" }.isEmpty)
        let lines = await self.told(6) { !$0.hasPrefix("logs ") }
        #expect(lines.last == "circuit_store_degraded = 0")
        #expect(
            // The store reports that it is degraded again when its reason changes.
            Set(lines).sorted() == [
                #"circuit_calls ["logged", "failed"] took time: true"#,
                #"circuit_calls ["logged", "refused"] took time: false"#,
                #"circuit_calls ["logged", "succeeded"] took time: true"#,
                #"circuit_events ["logged", "tripped"] + 1"#,
                "circuit_store_degraded = 0", "circuit_store_degraded = 1",
            ])
    }

    /// The hooks' lines, once so many have come: that of a closed store may come after `close()` has returned.
    private func told(_ count: Int, _ isWanted: (String) -> Bool) async -> [String] {
        func lines() -> [String] { RecipeSnippets.told.withLock { $0.filter(isWanted) } }
        _ = await eventually { lines().count >= count }
        return lines()
    }

    /// A success, a failure that trips, and a refusal.
    private func makeHistory(
        _ install: (inout CircuitStore.Configuration, inout CallPolicy) -> Void,
        beforeClosing: (CircuitStore) async throws -> Void = { _ in }
    ) async throws {
        let folder = try Workplace.here.directory + "/shop"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/breakers.db"
        var configuration = Stores.configuration()
        var calls = CallPolicy()
        install(&configuration, &calls)
        let store = try CircuitStore(path: path, configuration: configuration)
        let circuit = try store.breaker(.init(name: "logged", trip: .consecutiveFailures(1)), calls: calls)
        _ = try await circuit.run { try await API().fetchUser() }
        for _ in 0..<2 { _ = try? await circuit.run { try await API(error: HTTPError(status: 500)).fetchUser() } }
        try await beforeClosing(store)
        store.close()
    }

    @Test func lifecycle() async throws {
        let store = try StoreFixture.makeStore()
        async let end: Void = RecipeSnippets.Circuits(store: store).run()
        RecipeSnippets.shutdown.continuation.finish()
        try await end
        #expect(store.health == .closed)
    }

    @Test func refusalsAreHandedOn() async throws {
        let clock = ManualHostClock()
        let store = try StoreFixture.makeStore(clock)
        defer { store.close() }
        let users = try store.breaker(
            .init(name: "users", trip: .consecutiveFailures(1), recovery: RecoveryRule(timeout: .milliseconds(1_500))))
        await users.recordFailure()
        #expect(try await RecipeSnippets.answer(users, API()) == "503 Service Unavailable, Retry-After: 2")
        clock.advance(by: .milliseconds(500))
        #expect(try await RecipeSnippets.answer(users, API()) == "503 Service Unavailable, Retry-After: 1")
    }

    /// Four workers, and one in the place of the first, which was killed: all failures count together.
    ///
    /// The directory is where systemd would say.
    @Test func preforkedWorkers() async throws {
        let place = try Workplace.here
        let path = place.directory + "/breakers.db"
        let environment = ["/usr/bin/env", "STATE_DIRECTORY=\(place.directory)"]
        let parent = try place.start("breaker-worker", ["prefork", path], through: environment)
        #expect(await parent.end() == 0)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let users = try #require(try await store.circuit(named: "users"))
        #expect(users.failureCount == 5 && users.beneath?.isOpen == true)
        #expect(try await store.history(of: "users").map(\.kind) == [.held, .tripped])
    }

    private static func script(_ name: String) -> String {
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Python/" + name
    }
}
