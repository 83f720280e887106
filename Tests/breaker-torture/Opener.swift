import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that opens damaged stores: it dies if the library does.
///
/// One line asks, one line answers: a word, and what is to be said of it.
final class Opener {
    private struct Boom: Error {}

    /// A machine that is busy with other things is no violation.
    private static let patience = Duration.seconds(20)

    private var store: CircuitStore?
    /// So that no circuit of an earlier try is met again.
    private var tries = 0
    private var violations: [String] = []
    private var refusal: BreakerStoreError?

    static func run() async -> Int32 {
        let opener = Opener()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let answer = await opener.perform(words.first ?? "", words.last ?? "")
            let bytes = Array((answer.split(separator: "\n").joined(separator: " ") + "\n").utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        return 0
    }

    private func perform(_ verb: String, _ directory: String) async -> String {
        self.violations = []
        self.refusal = nil
        do {
            switch verb {
            // Opens a store, uses it, and closes it.
            case "try":
                let start = ContinuousClock.now
                try self.open(directory)
                let time = ContinuousClock.now - start
                await self.use()
                self.close()
                return self.verdict("ms=\(Int(time / .milliseconds(1)))")
            case "hold":
                try self.open(directory)
                await self.use()
                return self.verdict("")
            case "use":
                await self.use()
                return self.verdict("")
            case "leave":
                self.close()
                return self.verdict("")
            default: return "violation there is no command '\(verb)'"
            }
        } catch {
            return "refused \(Self.name(of: error.code)) \(error)"
        }
    }

    private func verdict(_ what: String) -> String {
        if let refusal, self.violations.isEmpty { return "refused \(Self.name(of: refusal.code)) \(refusal)" }
        return self.violations.isEmpty ? "opened \(what)" : "violation \(self.violations.joined(separator: "; "))"
    }

    private func open(_ directory: String) throws(BreakerStoreError) {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = Self.patience
        configuration.firstRetry = .milliseconds(1)
        self.store = try CircuitStore(path: directory + "/a.db", configuration: configuration)
    }

    private func close() {
        self.store?.close()
        self.store = nil
    }

    private static func name(of code: BreakerStoreError.Code) -> String {
        switch code {
        case .notAStore: "notAStore"
        case .newerSchema: "newerSchema"
        case .foreignSchema: "foreignSchema"
        default: "another"
        }
    }

    // MARK: - Use

    /// Looks at everything, calls, and trips a circuit, until all of that went well in a healthy store.
    private func use() async {
        guard let store else { return }
        let deadline = ContinuousClock.now + Self.patience
        var reason: String?
        repeat {
            if reason != nil { try? await Task.sleep(for: .milliseconds(1)) }
            reason = self.look(at: store)
            if reason == nil { reason = await self.trip(in: store) }
            if reason == nil, case .degraded(since: _, let error) = store.health { reason = "degraded: \(error)" }
        } while reason != nil && ContinuousClock.now < deadline && self.violations.isEmpty && !self.isRefused(store)
        guard let reason else { return }
        // Somebody has made it another's, a later version's, or one with other tables: then it is left alone.
        if !self.isRefused(store) { self.violations.append("the store does not come back: \(reason)") }
    }

    private func isRefused(_ store: CircuitStore) -> Bool {
        guard case .degraded(since: _, let error) = store.health, Self.name(of: error.code) != "another" else {
            return self.refusal != nil
        }
        self.refusal = error
        return true
    }

    /// What is wrong with the file; a row that can't be read is not.
    private func look(at store: CircuitStore) -> String? {
        do {
            for name in StoreBytes.circuits {
                try self.unlessOfOneRow {
                    let breaker = try store.breaker(StoreBytes.config(name))
                    _ = (breaker.state, breaker.failureCount, breaker.isCallPermitted, breaker.config)
                }
                try self.unlessOfOneRow { _ = try store.circuit(named: name) }
                try self.unlessOfOneRow { _ = try store.history(of: name, limit: 1_000) }
            }
            try self.unlessOfOneRow { _ = try store.circuits() }
            try self.unlessOfOneRow { _ = try store.history(limit: 1_000) }
            try self.unlessOfOneRow { _ = try store.workers() }
            return nil
        } catch {
            // The writer may go on with the tables that it has read, where who reads them anew refuses them.
            self.refusal = (error as? BreakerStoreError).flatMap { Self.name(of: $0.code) == "another" ? nil : $0 }
            return "\(error)"
        }
    }

    private func unlessOfOneRow(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as BreakerStoreError where error.code == .corrupt && error.sqliteCode == nil {
            return
        }
    }

    private func trip(in store: CircuitStore) async -> String? {
        self.tries += 1
        let name = "after\(self.tries)"
        do {
            let config = CircuitBreaker.Config(name: name, trip: .failures(2, within: .seconds(3_600)))
            let breaker = try store.breaker(config)
            var runs = 0
            let value = try await breaker.run { () async throws in
                runs += 1
                return 7
            }
            if value != 7 { self.violations.append("a call returned \(value)") }
            for _ in 0..<2 {
                do {
                    try await breaker.run { () async throws in
                        runs += 1
                        throw Boom()
                    }
                } catch is Boom {}
            }
            if runs != 3 { self.violations.append("three operations ran \(runs) times") }
            do {
                try await breaker.run {}
                return "two failures did not trip \(name)"
            } catch is CircuitOpenError {}
            guard case .open? = try await store.circuit(named: name)?.state else {
                return "\(name) is not open in the file"
            }
            guard try await store.history(of: name).contains(where: { $0.kind == .tripped }) else {
                return "the history knows nothing of \(name)"
            }
            return nil
        } catch let error as BreakerStoreError {
            return "\(error)"
        } catch {
            self.violations.append("a call ended with \(error)")
            return "\(error)"
        }
    }
}
