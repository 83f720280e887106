import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that does what the lines of its input say, and halts itself where it is told.
final class Peer {
    private struct Boom: Error {}
    private struct Missing: Error {
        let what: String
    }

    private let clock: SharedClock
    private var openStore: CircuitStore?
    private var permit: CallPermit?

    /// `<clock>`.
    static func main(_ arguments: [String]) async -> Int32 {
        guard let path = arguments.first, let clock = try? SharedClock(path: path) else { return 64 }
        alarm(600)
        let peer = Peer(clock)
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                Self.answer(try await peer.perform(words))
            } catch let error as BreakerStoreError {
                Self.answer("refused=\(error.code)")
            } catch {
                Self.answer("error \(error)")
            }
        }
        return 0
    }

    private init(_ clock: SharedClock) { self.clock = clock }

    private static func answer(_ text: String) {
        let bytes = Array((text.replacing("\n", with: " ") + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }

    private func perform(_ words: [String]) async throws -> String {
        func word(_ place: Int) throws -> String {
            guard words.indices.contains(place) else { throw Missing(what: "word \(place)") }
            return words[place]
        }
        func count(_ place: Int) -> Int { words.indices.contains(place) ? Int(words[place]) ?? 1 : 1 }
        switch try word(0) {
        case "halt":
            try Self.halt(at: word(1))
            return "ok"
        case "open": return try self.open(word(1))
        case "close":
            self.openStore?.close()
            self.openStore = nil
            return "ok"
        case "fail": return try await self.fail(word(1), count(2), isAsync: words.last == "async")
        case "admit": return try self.admit(word(1))
        case "end":
            if try word(1) == "failure" { await self.permit?.fail(Boom()) } else { await self.permit?.succeed() }
            self.permit = nil
            return "ok"
        case "reset":
            try await self.store.reset(word(1))
            return "ok"
        case "look": return try self.look(word(1))
        case "health": return try "healthy=\(self.store.health.isHealthy)"
        default: throw Missing(what: "a command")
        }
    }

    private var store: CircuitStore {
        get throws {
            guard let store = self.openStore else { throw Missing(what: "an open store") }
            return store
        }
    }

    /// Halts the whole process when the library reaches a point, once.
    private static func halt(at name: String) throws {
        #if BREAKERSTORE_HOOKS
        Hook.install { reached in
            guard reached == name else { return }
            Hook.install(nil)
            // To this thread, which goes no further; one for the process may be taken by another.
            raise(SIGSTOP)
        }
        #else
        throw Missing(what: "hooks: build for debugging")
        #endif
    }

    // MARK: - The store

    private func open(_ path: String) throws -> String {
        self.permit = nil
        self.openStore?.close()
        self.openStore = nil
        var configuration = CircuitStore.Configuration()
        configuration.clock = self.clock
        configuration.firstRetry = .milliseconds(1)
        self.openStore = try CircuitStore(path: path, configuration: configuration)
        // Known to all from the start.
        for name in ["counting", "tripping"] { _ = try self.breaker(name) }
        return "ok"
    }

    private func breaker(_ name: String) throws -> CircuitBreaker {
        try self.store.breaker(
            .init(
                name: name,
                trip: .failures(name == "tripping" ? 2 : 10_000, within: .seconds(3_600)),
                recovery: RecoveryRule(timeout: .seconds(30)),
                probes: ProbeRule(lease: .seconds(30))
            )
        )
    }

    private func fail(_ name: String, _ times: Int, isAsync: Bool) async throws -> String {
        let breaker = try self.breaker(name)
        var ran = 0
        var refused = 0
        var slowest = Duration.zero
        for _ in 0..<times {
            let start = ContinuousClock.now
            do {
                if isAsync {
                    try await breaker.run { () async throws in
                        ran += 1
                        throw Boom()
                    }
                } else {
                    try Self.call(breaker) { ran += 1 }
                }
            } catch is Boom {
            } catch is CircuitOpenError {
                refused += 1
            }
            slowest = max(slowest, ContinuousClock.now - start)
        }
        return "ran=\(ran) refused=\(refused) slowest=\(Int64(slowest / .microseconds(1)))"
            + " healthy=\(try self.store.health.isHealthy)"
    }

    private static func call(_ breaker: CircuitBreaker, _ body: () -> Void) throws {
        try breaker.run { () throws in
            body()
            throw Boom()
        }
    }

    private func admit(_ name: String) throws -> String {
        let breaker = try self.breaker(name)
        let start = ContinuousClock.now
        do throws(CircuitOpenError) {
            let permit: CallPermit = try breaker.admit()
            self.permit = permit
            return "admitted=true slowest=\(Int64((ContinuousClock.now - start) / .microseconds(1)))"
        } catch {
            return "admitted=false cause=\(error.cause.rawValue)"
                + " slowest=\(Int64((ContinuousClock.now - start) / .microseconds(1)))"
        }
    }

    private func look(_ name: String) throws -> String {
        guard let seen = try self.store.circuit(named: name) else { return "state=unknown" }
        let state =
            switch seen.state {
            case .closed: "closed"
            case .open: "open"
            case .halfOpen: "half-open"
            case .held: "held"
            }
        let history = try self.store.history(of: name, limit: 1_000).map(\.kind.rawValue).reversed()
        return "state=\(state) failures=\(seen.failures.count) healthy=\(try self.store.health.isHealthy)"
            + " history=\(history.joined(separator: ","))"
    }
}
