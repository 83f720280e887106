import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A service's process whose store is in an enemy's hands: it calls on, counts, and trips, or says that it can't.
///
/// One line asks, one line answers, as an opener does.
final class Victim {
    private struct Boom: Error {}

    private static let mostMemory = 48 << 20
    /// So many failures of a circuit that trips after five.
    private static let failures = 50

    var store: CircuitStore?
    var violations: [String] = []
    /// So that no circuit of an earlier use is met again.
    private var uses = 0
    var idle = 0
    /// The circuit whose calls may go through without end.

    static func run() async -> Int32 {
        // A file that may not grow is an error, no signal.
        _ = signal(SIGXFSZ, SIG_IGN)
        let victim = Victim()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let answer = await victim.perform(words.first ?? "", words.last ?? "")
            let bytes = Array((answer.split(separator: "\n").joined(separator: " ") + "\n").utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        return 0
    }

    private func perform(_ verb: String, _ word: String) async -> String {
        self.violations = []
        let start = ContinuousClock.now
        switch verb {
        case "open":
            Memory.forgetPeak()
            self.idle = Memory.now
            do {
                try self.open(word)
            } catch {
                return "refused \(error.code) \(error)"
            }
        // The others' circuits refuse as before if the word is "keeps".
        case "use": await self.use(keeps: word == "keeps")
        case "fail":
            if let store, let breaker = self.breaker("closed", in: store) { _ = self.fail(breaker, store) }
        case "await": await self.waitForTrip()
        case "heal": await self.waitForFile()
        case "health":
            let health = self.store?.health ?? .closed
            if !health.isHealthy { return "refused \(Self.word(health).split(separator: " ").last ?? "")" }
        case "watch": self.watch()
        case "names": self.forgetNames()
        case "limit": Self.limitFiles(word)
        case "leave":
            self.store?.close()
            self.store = nil
        default: return "violation there is no command '\(verb)'"
        }
        let taken = Memory.peak - self.idle
        if taken > Self.mostMemory {
            self.violations.append("it took \(taken >> 20) MB")
            // Told once.
            Memory.forgetPeak()
            self.idle = Memory.now
        }
        let time = Int((ContinuousClock.now - start) / .milliseconds(1))
        return self.violations.isEmpty
            ? "opened ms=\(time)" : "violation \(self.violations.joined(separator: "; "))"
    }

    private func open(_ path: String) throws(BreakerStoreError) {
        var configuration = CircuitStore.Configuration()
        configuration.whenUnavailable = .degrade
        configuration.firstRetry = .milliseconds(10)
        self.store = try CircuitStore(path: path, configuration: configuration)
    }

    // MARK: - Use

    private func use(keeps: Bool) async {
        guard let store else { return }
        self.uses += 1
        // Another process may have used the same store.
        let fresh = "fresh\(getpid())-\(self.uses)"
        for name in HostileStore.circuits + [fresh] {
            guard let breaker = self.breaker(name, in: store) else { continue }
            let ran = name == fresh ? await self.failLater(breaker, store) : self.fail(breaker, store)
            if name == fresh, ran == 0 { self.violations.append("a call of a new circuit did not run") }
            if keeps, ran > 0, HostileStore.refusing.contains(name), case .healthy = store.health, !self.isNew(store) {
                self.violations.append("'\(name)' let a call through")
            }
        }
        // Whatever they hold, they are read without harm.
        _ = try? await store.circuits()
        _ = try? await store.history(limit: 1_000)
        _ = try? await store.workers()
        for name in HostileStore.circuits { _ = try? await store.circuit(named: name) }
    }

    /// With `.degrade` there is always a handle.
    func breaker(_ name: String, in store: CircuitStore) -> CircuitBreaker? {
        do {
            return try store.breaker(HostileStore.config(name))
        } catch {
            self.violations.append("no handle of '\(name)': \(error)")
            return nil
        }
    }

    /// Fails until calls are refused; returns how many ran.
    private func fail(_ breaker: CircuitBreaker, _ store: CircuitStore) -> Int {
        var ran = 0
        if self.isHeldClosed(breaker) { return 0 }
        for place in 0..<Self.failures {
            do {
                try breaker.run { () throws in
                    ran += 1
                    throw Boom()
                }
                self.violations.append("a failing call of '\(breaker.name)' returned")
            } catch is Boom {
                if ran != place + 1 { self.violations.append("a call of '\(breaker.name)' ran \(ran - place) times") }
            } catch is CircuitOpenError {
                return ran
            } catch {
                self.violations.append("a call of '\(breaker.name)' ended with \(error)")
            }
        }
        self.violations.append("'\(breaker.name)' does not trip, the store is \(Self.word(store.health))")
        return ran
    }

    /// The same by the form that suspends.
    private func failLater(_ breaker: CircuitBreaker, _ store: CircuitStore) async -> Int {
        var ran = 0
        for _ in 0..<Self.failures {
            do {
                try await breaker.run { () async throws in
                    ran += 1
                    throw Boom()
                }
            } catch is Boom {
                continue
            } catch is CircuitOpenError {
                return ran
            } catch {
                self.violations.append("a call of '\(breaker.name)' ended with \(error)")
            }
        }
        self.violations.append("'\(breaker.name)' does not trip, the store is \(Self.word(store.health))")
        return ran
    }

    private func isHeldClosed(_ breaker: CircuitBreaker) -> Bool {
        if case .held(.closed, until: _) = breaker.state { return true }
        return false
    }

    /// Whether what was there has been set aside: then nothing is held any more.
    private func isNew(_ store: CircuitStore) -> Bool {
        (try? store.history(limit: 1_000))?.contains { $0.kind == .quarantined } ?? true
    }

    /// Without the message, which names the path.
    static func word(_ health: StoreHealth) -> String {
        switch health {
        case .healthy: "healthy"
        case .degraded(since: _, let error): "degraded: \(error.code)"
        case .closed: "closed"
        }
    }
}
