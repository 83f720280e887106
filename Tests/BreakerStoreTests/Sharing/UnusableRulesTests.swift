import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerStore

/// Rules that can't be read, or that only a later release understands, cost no circuit its state, and no process its
/// own rules.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct UnusableRulesTests {
    private static let later = "json_set(rules, '$.!limit', 7)"

    func config(_ trip: TripRule = .failures(2, within: .seconds(60))) -> CircuitBreaker.Config {
        CircuitBreaker.Config(
            name: "a", trip: trip, recovery: RecoveryRule(timeout: .seconds(36_000), cap: .seconds(86_400)))
    }
    func left(_ f: StoreFixture) throws -> Int64 {
        let now = try #require(f.core).clock.now.microseconds
        let until = Int64(Foreign.value(f.store.backend.file.path, "SELECT open_until FROM circuit") ?? "0") ?? 0
        return (until - now) / 1_000_000
    }

    /// Nobody cuts an open state to the longest recovery of rules that are not the stored ones.
    @Test(arguments: ["'{'", later], ["register", "hold", "other"]) func openStateIsCut(
        text: String, how: String
    ) async throws {
        let f = try StoreFixture()
        let breaker = try f.store.breaker(self.config())
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(try self.left(f) == 36_000)
        Foreign.run(f.store.backend.file.path, "UPDATE circuit SET rules = \(text)", keepsLog: true)
        switch how {
        case "register":
            try f.store.patiently { _ = try $0.breaker(self.config(.failures(3, within: .seconds(60)))) }
        case "hold": try await f.store.hold("a", .closed, by: "Ann")
        default:
            try await f.store.hold("a", .closed, by: "Ann")
            try await f.store.release("a")
        }
        #expect(try self.left(f) == 36_000, "\(how)")
    }

    /// A handle by name leaves this process the rules that it has registered.
    @Test(arguments: ["'{'", later]) func namedLosesOwnRules(text: String) async throws {
        let f = try StoreFixture()
        let breaker = try f.store.breaker(self.config())
        Foreign.run(f.store.backend.file.path, "UPDATE circuit SET rules = \(text)", keepsLog: true)
        let named = try f.store.breaker(named: "a")
        #expect(named == breaker)
        for _ in 0..<5 { await breaker.recordFailure() }
        #expect(!breaker.isCallPermitted, "own rules are gone")
    }

    /// No process registers rules that it can't use.
    @Test(arguments: ["'{'", later]) func namedWritesNonsense(text: String) async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        _ = try f.store.breaker(self.config())
        Foreign.run(path, "UPDATE circuit SET rules = \(text)", keepsLog: true)
        try f.store.patiently { other in
            _ = try other.breaker(named: "a")
        }
        let named = try f.store.breaker(named: "a")
        try await f.store.forget("a")
        await named.recordFailure()
        let rules = Foreign.value(path, "SELECT rules FROM circuit")
        #expect(rules == nil || rules?.contains("failures") == true, "\(rules ?? "")")
        // Does a registration repair it?
        _ = try f.store.breaker(self.config())
        _ = try f.store.breaker(self.config(.failures(7, within: .seconds(60))))
        #expect(Foreign.value(path, "SELECT rules ->> '$.trip.count' FROM circuit") == "7", "a registration repairs it")
    }

    /// The in-memory fallback guards by the own rules, also once the file is lost.
    @Test(arguments: ["'{'", later]) func fallbackGuardsByOwnRules(text: String) async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/unusable-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = .hangLimit
        let path = directory + "/s.db"
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(self.config())
        Foreign.run(path, "UPDATE circuit SET rules = \(text)", keepsLog: true)
        try await breaker.run {}
        #expect(breaker.circuit.rulesInMemory.isKnown, "before the loss")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".gone")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for _ in 0..<3 { await breaker.recordFailure() }
        #expect(!store.isHealthy)
        #expect(breaker.circuit.rulesInMemory.isKnown, "after the loss")
        for _ in 0..<5 { await breaker.recordFailure() }
        #expect(!breaker.isCallPermitted, "memory trips by the own rules")
    }

    /// A handle describes itself by the rules that guard it, and by the mode in the file.
    @Test(arguments: ["'{'", later]) func handleShowsOwn(text: String) async throws {
        let f = try StoreFixture()
        var config = self.config()
        config.mode = .observing
        let breaker = try f.store.breaker(config)
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(breaker.isCallPermitted)
        Foreign.run(f.store.backend.file.path, "UPDATE circuit SET rules = \(text), mode = 'enforcing'", keepsLog: true)
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(!breaker.isCallPermitted)
        #expect(breaker.config.trip.count == 2 && breaker.config.mode == .enforcing)
        #expect(throws: Never.self) { _ = try f.store.breaker(breaker.config) }
    }

    /// A registration over values beyond this release's bounds keeps the members that it does not know.
    @Test func wideValueIsOverwritten() async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        _ = try f.store.breaker(self.config())
        Foreign.run(
            path, "UPDATE circuit SET rules = json_set(rules, '$.trip.count', 2000000, '$.limit', 7)", keepsLog: true)
        try f.store.patiently { _ = try $0.breaker(self.config(.failures(3, within: .seconds(60)))) }
        let text = Foreign.value(path, "SELECT rules FROM circuit") ?? ""
        #expect(text.contains("\"limit\":7"), "\(text)")
    }

    /// A mode of a later release stays.
    @Test func laterModeStays() async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        _ = try f.store.breaker(self.config())
        Foreign.run(
            path, "PRAGMA user_version = 3001; CREATE TABLE later (x); UPDATE circuit SET mode = 'shadow'",
            keepsLog: true)
        try f.store.patiently { _ = try $0.breaker(self.config(.failures(9, within: .seconds(60)))) }
        #expect(Foreign.value(path, "SELECT mode FROM circuit") == "shadow")
    }

    /// A transaction that loads the circuit for an operator first counts failures by the own rules all the same.
    @Test func loadedUnguardedFirst() async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        let config = self.config()
        let breaker = try f.store.breaker(config)
        Foreign.run(path, "UPDATE circuit SET rules = \(Self.later)", keepsLog: true)
        let core = try #require(f.core)
        let now = core.clock.now
        let epoch = breaker.circuit.counts.epoch
        try await core.commit(until: f.store.deadline) { (t) throws(BreakerStoreError) in
            _ = try t.change("a", by: "Ann") { circuit, moment, _ in circuit.lastError = "x" }
            for n in 0..<5 {
                try t.apply(
                    .recorded(Report(worker: 1, sequence: Int64(n), epoch: epoch, at: now), failed: true, token: 1),
                    to: "a", registering: config)
            }
        }
        #expect(!breaker.isCallPermitted)
    }

    /// Nor does anybody cut a lease.
    @Test(arguments: ["'{'", later]) func leaseIsCut(text: String) async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        let config = CircuitBreaker.Config(
            name: "a", trip: .consecutiveFailures(1), recovery: RecoveryRule(timeout: .seconds(30)),
            probes: ProbeRule(limit: 1, lease: .seconds(3_600)))
        let breaker = try f.store.breaker(config)
        await breaker.recordFailure()
        f.clock.advance(by: .seconds(30))
        let started = AsyncStream<Void>.makeStream()
        let go = AsyncStream<Void>.makeStream()
        let task = Task {
            try await breaker.run {
                started.continuation.yield()
                for await _ in go.stream { break }
            }
        }
        for await _ in started.stream { break }
        Foreign.run(path, "UPDATE circuit SET rules = \(text)", keepsLog: true)
        let before = Foreign.value(path, "SELECT lease_ends FROM probe")
        try f.store.patiently {
            var other = config
            other.minimumReporters = 2
            _ = try $0.breaker(other)
        }
        #expect(Foreign.value(path, "SELECT lease_ends FROM probe") == before)
        go.continuation.yield()
        _ = try? await task.value
    }

    /// The history says once that the rules can't be used.
    @Test func twoRegistrationsAlternate() async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        _ = try f.store.breaker(self.config())
        for n in 0..<5 {
            Foreign.run(path, "UPDATE circuit SET rules = \(Self.later)", keepsLog: true)
            try f.store.patiently { _ = try $0.breaker(self.config(.failures(3 + n, within: .seconds(60)))) }
        }
        let count = try await f.store.history(of: "a").count { $0.kind == .configured }
        #expect(count == 1, "\(count)")
    }

    /// A call of a worker whose own recovery is shorter cuts no open state.
    @Test func callCutsOpenState() async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        let breaker = try f.breaker(trip: .failures(2, within: .seconds(60)))
        let now = try #require(f.core).clock.now.microseconds
        Foreign.run(
            path,
            "UPDATE circuit SET rules = json_set(rules, '$.recovery.capMicroseconds', 86400000000, '$.!limit', 7), state = 'open', open_until = \(now + 72_000_000_000), epoch = epoch + 1",
            keepsLog: true)
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(try self.left(f) == 72_000)
    }

    /// Bytes that are not UTF-8 are not repaired silently: such a text can't be read.
    @Test func invalidUTF8() async throws {
        let f = try StoreFixture()
        let path = f.store.backend.file.path
        _ = try f.store.breaker(self.config())
        Foreign.run(
            path,
            "UPDATE circuit SET rules = CAST(replace(CAST(rules AS BLOB), CAST('\"trip\"' AS BLOB), CAST('\"limit\":\"' AS BLOB) || x'ff' || CAST('\",\"trip\"' AS BLOB)) AS TEXT)",
            keepsLog: true)
        let before = Foreign.value(path, "SELECT hex(rules) FROM circuit")
        try f.store.patiently { _ = try $0.breaker(self.config(.failures(3, within: .seconds(60)))) }
        let after = Foreign.value(path, "SELECT hex(rules) FROM circuit") ?? ""
        #expect(before?.contains("22FF22") == true)
        #expect(after.contains("22FF22") || !after.contains("EFBFBD"), "the bytes were changed")
    }
}
