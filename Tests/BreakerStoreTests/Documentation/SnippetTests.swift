import BreakerStore
import BreakerTestSupport
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

    /// A reader who copies the samples of a document has their imports, too.
    @Test(arguments: [
        ("Mutex<", "Synchronization"), ("@Test ", "Testing"), ("@Observable ", "Observation"),
        ("URLSession", "Foundation"), ("ProcessInfo", "Foundation"), ("contentsOfFile", "Foundation"),
        (" since: .now", "Foundation"), ("URLSession", "FoundationNetworking"),
        (": Service {", "ServiceLifecycle"), ("logger.", "Logging"), ("Counter(", "Metrics"),
        ("HTTPClientRe", "AsyncHTTPClient"),
    ])
    func eachModuleIsImported(word: String, module: String) throws {
        for sample in try DocumentedCode.samples() where sample.code.contains(word) {
            #expect(sample.imports.contains(module), "\(sample.document) uses \(word)")
        }
    }

    /// Until 1.0 each minor version may migrate the file: no line for a manifest takes the next one by itself.
    @Test func manifestsTakeNoOtherMinorVersion() throws {
        let lines = try DocumentedCode.manifestLines()
        #expect(lines.contains { $0.code.contains(#".package(path: "../BreakerStore")"#) })
        let version = Versions.library.split(separator: ".").prefix(2).joined(separator: ".")
        for line in lines where !line.code.contains("path:") {
            #expect(line.code.contains(#".upToNextMinor(from: "\#(version)."#), "\(line): \(line.code)")
            // No address that could be somebody's.
            #expect(line.code.contains(#"url: "https://git.example/"#), "\(line): \(line.code)")
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
        await payments.recordFailure(HTTPError(status: 503))
        #expect(payments.failureCount == 1)
        #expect(try await payments.snapshot().lastError == "HTTPError: 503 from payments.internal")
        try ReadmeSnippets.operate(store)
        #expect(payments.state == .closed)
        #expect(try await store.history(of: "payments").map(\.kind) == [.released, .held, .reset])
    }

    @Test(.ownDirectory) func readmeHooks() async throws {
        let pages = Locked<[String]>([])
        let lines = Locked<[String]>([])
        let path = try Workplace.here.store
        let store = try ReadmeSnippets.hooks(
            path, { text in pages.withLock { $0.append(text) } }, { text in lines.withLock { $0.append(text) } })
        let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(1)))
        await users.recordFailure()
        try await users.reset()
        store.close()
        #expect(pages.withLock { $0 }.count == 1)
        #expect(await eventually { lines.withLock { $0 } == ["circuits: closed"] })
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

    @Test(.timeLimit(.minutes(10))) func watchingEndsWithTheStore() async throws {
        let store = try StoreFixture.makeStore()
        let watcher = Task { await SharingSnippets.watch(store) }
        store.close()
        await watcher.value
    }

    @Test(.ownDirectory) func plannedMigration() async throws {
        let path = try OlderFileTests.make("2.1")
        let store = try CircuitStore(path: path, configuration: ReliabilitySnippets.plannedMigration())
        defer { store.close() }
        #expect(ReliabilitySnippets.health(store).contains("olderSchema"))
        // As another process would.
        await #expect(processExitsWith: .success) { [path = path as String] in try ReliabilitySnippets.migrate(path) }
        #expect(await eventually { store.isHealthy })
    }

    @Test func reliability() throws {
        #expect(ReliabilitySnippets.durability().durability == .everyCommit)
        let store = try StoreFixture.makeStore()
        #expect(ReliabilitySnippets.health(store) == "shared")
        store.close()
        #expect(ReliabilitySnippets.health(store) == "closed, guarded in memory")
    }

    @Test func thresholds() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        _ = try store.breaker(ThresholdSnippets.busy())
        _ = try store.breaker(ThresholdSnippets.quiet())
        _ = try ThresholdSnippets.slow(store)
        _ = try store.breaker(ThresholdSnippets.share())
        #expect(try store.circuits().map(\.name) == ["export", "payments", "reports", "search"])
        let quota = try store.breaker(.init(name: "quota"), calls: ThresholdSnippets.outage())
        synchronously { quota.recordFailure(HTTPError(status: 500)) }
        #expect(quota.state == .closed)
        synchronously { quota.recordFailure(HTTPError(status: 429, retryAfter: .seconds(7))) }
        let error = #expect(throws: CircuitOpenError.self) { try synchronously { try quota.run {} } }
        #expect(error?.retryAfter == .seconds(7))
    }

    @Test func bringingABreakerIn() async throws {
        let clock = ManualHostClock()
        let store = try StoreFixture.makeStore(clock)
        defer { store.close() }
        let payments = try BringingSnippets.observe(store)
        func call(_ fails: Bool) async {
            try? await payments.run {
                clock.advance(by: .milliseconds(40))
                if fails { throw HTTPError(status: 503) }
            }
        }
        for number in 0..<20 { await call(number >= 10) }
        // Nothing is refused.
        for _ in 0..<2 { await call(false) }
        let snippets = BringingSnippets()
        let report = try snippets.report(on: "payments", in: store)
        #expect(report.hasPrefix("payments would be open until "))
        #expect(
            report.contains(
                ", 2 calls would have been refused; 10 of 22 failed, within \(Duration.seconds(30)) 0 of "))
        #expect(try snippets.report(on: "users", in: store) == "users is not registered")
        let durations = try #require(payments.totals.durations)
        #expect(snippets.bound(of: 0.99, in: durations) == .milliseconds(50))
        // The circuit was open, and refuses at once.
        _ = try BringingSnippets.enforce(store)
        await #expect(throws: CircuitOpenError.self) { try await payments.run {} }
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

    @Test(.timeLimit(.minutes(10))) func movingFromAModelOfAView() async throws {
        let store = try StoreFixture.makeStore()
        let circuit = try MovingSnippets.consecutive(store)
        let status = await MovingSnippets.CircuitStatus(of: circuit, in: store)
        #expect(await status.state == .closed)
        async let end: Void = status.follow()
        #expect(try await MovingSnippets.permit(circuit, API()) == "Ada")
        for _ in 0..<3 {
            await #expect(throws: HTTPError.self) {
                try await MovingSnippets.permit(circuit, API(error: HTTPError(status: 500)))
            }
        }
        await #expect(throws: CircuitOpenError.self) { try await MovingSnippets.permit(circuit, API()) }
        while await !status.state.isOpen { await Task.yield() }
        store.close()
        await end
    }
}
