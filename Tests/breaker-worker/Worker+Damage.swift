import BreakerStore
import BreakerTestSupport

/// The verb `use-damaged`, for the part `torn`: uses a store whose files somebody has damaged.
extension Worker {
    /// What must not be.
    struct Wrong: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// A machine that is busy with other things is no violation.
    private static let patience = Duration.hangLimit

    /// `use-damaged`: looks at everything, calls, and trips a circuit, until all of that went well in a healthy store.
    ///
    /// Throws what refuses a file that somebody has made another's, a later version's, or one with other tables: it is
    /// left alone then.
    func useDamaged() async throws -> String {
        let store = try self.store
        let deadline = ContinuousClock.now + Self.patience
        var reason: String?
        repeat {
            if reason != nil { try? await Task.sleep(for: .milliseconds(1)) }
            reason = try Self.lookAtAll(of: store)
            if reason == nil { reason = try await self.tripAnother(in: store) }
            if case .degraded(since: _, let error) = store.health {
                if Self.refuses(error) { throw error }
                if reason == nil { reason = "degraded: \(error)" }
            }
        } while reason != nil && ContinuousClock.now < deadline
        if let reason { throw Wrong("the store does not come back: \(reason)") }
        return "ok"
    }

    private static func refuses(_ error: BreakerStoreError) -> Bool {
        [.notAStore, .newerSchema, .foreignSchema].contains(error.code)
    }

    /// What is wrong with the file; a row that can't be read is not.
    private static func lookAtAll(of store: CircuitStore) throws -> String? {
        do {
            for name in TornCircuits.names {
                try Self.unlessOfOneRow {
                    let breaker = try store.breaker(TornCircuits.config(name))
                    _ = (breaker.state, breaker.failureCount, breaker.isCallPermitted, breaker.config)
                }
                try Self.unlessOfOneRow { _ = try store.circuit(named: name) }
                try Self.unlessOfOneRow { _ = try store.history(of: name, limit: 1_000) }
            }
            try Self.unlessOfOneRow { _ = try store.circuits() }
            try Self.unlessOfOneRow { _ = try store.history(limit: 1_000) }
            try Self.unlessOfOneRow { _ = try store.workers() }
            return nil
        } catch {
            // The writer may go on with the tables that it has read, where who reads them anew refuses them.
            if let error = error as? BreakerStoreError, Self.refuses(error) { throw error }
            return "\(error)"
        }
    }

    private static func unlessOfOneRow(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as BreakerStoreError where error.code == .corrupt && error.sqliteCode == nil {
            return
        }
    }

    private func tripAnother(in store: CircuitStore) async throws -> String? {
        self.uses += 1
        let name = "after\(self.uses)"
        do {
            self.breakers[name] = try store.breaker(.init(name: name, trip: .failures(2, within: .seconds(3_600))))
            defer { self.breakers[name] = nil }
            let good = try await self.callsSuspending(Command("call \(name)"))
            let bad = try await self.callsSuspending(Command("fail \(name) 2"))
            guard good.ran == 1, bad.ran == 2, bad.failed == 2 else {
                throw Wrong("of three calls: \(good.text), then \(bad.text)")
            }
            let last = try await self.callsSuspending(Command("call \(name)"))
            if last.refused == 0 { return "two failures did not trip \(name)" }
            guard case .open? = try await store.circuit(named: name)?.state else {
                return "\(name) is not open in the file"
            }
            guard try await store.history(of: name).contains(where: { $0.kind == .tripped }) else {
                return "the history knows nothing of \(name)"
            }
            return nil
        } catch let error as BreakerStoreError {
            return "\(error)"
        }
    }
}
