import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Verbs for the part `hostile`: in a store in an enemy's hands, calls run and count and trip, or the answer says not.
extension Worker {
    /// So many failures of a circuit that trips after five.
    private static let failures = 50

    /// `use-hostile [keeps]`: fails calls of all circuits and of a new one until they are refused, and looks at all.
    ///
    /// With `keeps` the others' circuits must refuse as before.
    func useHostile(_ command: Command) async throws -> String {
        let store = try self.store
        self.uses += 1
        // Another process may have used the same store.
        let fresh = "fresh\(getpid())-\(self.uses)"
        var problems: [String] = []
        for name in HostileCircuits.names + [fresh] {
            do {
                let ran = try await self.trip(name, isAsync: name == fresh)
                if name == fresh, ran == 0 { throw Wrong("a call of a new circuit did not run") }
                if command.has("keeps"), ran > 0, HostileCircuits.refusing.contains(name), store.health.isHealthy,
                    !Self.isNew(store)
                {
                    throw Wrong("'\(name)' let a call through")
                }
            } catch {
                problems.append("\(error), the store is \(Self.word(store.health))")
            }
        }
        // Whatever they hold, they are read without harm.
        _ = try? await store.circuits()
        _ = try? await store.history(limit: 1_000)
        _ = try? await store.workers()
        for name in HostileCircuits.names { _ = try? await store.circuit(named: name) }
        if !problems.isEmpty { throw Wrong(problems.joined(separator: "; ")) }
        return "ok"
    }

    /// `trip <circuit> [async]`: fails calls of a circuit of a hostile store until they are refused.
    func trip(_ command: Command) async throws -> String {
        "ran=\(try await self.trip(command.word(0), isAsync: command.has("async")))"
    }

    /// How many calls ran.
    private func trip(_ name: String, isAsync: Bool) async throws -> Int {
        let breaker = try self.hostile(name)
        if case .held(.closed, until: _) = breaker.state { return 0 }
        self.breakers[name] = breaker
        defer { self.breakers[name] = nil }
        let failing = Command("fail \(name) \(Self.failures) until-refused")
        let tally = try await isAsync ? self.callsSuspending(failing) : self.calls(failing)
        if tally.ran != tally.failed { throw Wrong("of \(tally.ran) calls of '\(name)' \(tally.failed) failed") }
        if tally.refused == 0 { throw Wrong("'\(name)' does not trip") }
        return tally.ran
    }

    /// With `.degrade` there is always a handle.
    private func hostile(_ name: String) throws -> CircuitBreaker {
        do {
            return try self.store.breaker(HostileCircuits.config(name))
        } catch {
            throw Wrong("no handle of '\(name)': \(error)")
        }
    }

    /// Whether what was there has been set aside: then nothing is held any more.
    private static func isNew(_ store: CircuitStore) -> Bool {
        (try? store.history(limit: 1_000))?.contains { $0.kind == .quarantined } ?? true
    }

    /// Without the message, which names the path.
    private static func word(_ health: StoreHealth) -> String {
        switch health {
        case .healthy: "healthy"
        case .degraded(since: _, let error): "degraded: \(error.code)"
        case .closed: "closed"
        }
    }

    // MARK: - When the file comes back

    /// `healthy <milliseconds>`: waits until the file is in use, and fails if it is not by then.
    func waitForHealth(_ command: Command) async throws -> String {
        let store = try self.store
        let deadline = ContinuousClock.now + .milliseconds(try command.number(0))
        while !store.health.isHealthy {
            guard ContinuousClock.now < deadline else {
                throw Wrong("the store does not come back, it is \(Self.word(store.health))")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        return "ok"
    }

    /// `settle <circuit>`: fails if a circuit of a hostile store is closed though its failures were seen.
    func settle(_ command: Command) async throws -> String {
        let store = try self.store
        let breaker = try self.hostile(command.word(0))
        // The store says that it is healthy, and then tells the file at once what was kept.
        let deadline = ContinuousClock.now + .seconds(100)
        while case .closed = breaker.state, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        if store.health.isHealthy, case .closed = breaker.state {
            throw Wrong("failures were lost: closed with \(breaker.failureCount) when the file came back")
        }
        return "ok"
    }

    // MARK: - What goes on for a while

    /// `watch <circuit> <milliseconds>`: fails and resets; whatever others clean up, this process is not in their way.
    func watch(_ command: Command) throws -> String {
        let store = try self.store
        let breaker = try self.hostile(command.word(0))
        let deadline = ContinuousClock.now + .milliseconds(try command.number(1))
        while ContinuousClock.now < deadline {
            breaker.recordFailure()
            try? store.reset(breaker.name)
            if case .degraded(since: _, let error) = store.health { throw Wrong("degraded: \(error)") }
        }
        return "ok"
    }

    /// `forget-names <count>`: how many bytes each leaves behind of names that come and are forgotten.
    func forgetNames(_ command: Command) throws -> String {
        let store = try self.store
        let count = try command.number(0)
        for place in 0..<2 * count {
            // The first half is for what is allocated once.
            if place == count { self.idleMemory = Memory.now }
            let name = "name\(place)"
            _ = try self.hostile(name)
            try? store.forget(name)
        }
        return "left=\((Memory.now - self.idleMemory) / count)"
    }
}
