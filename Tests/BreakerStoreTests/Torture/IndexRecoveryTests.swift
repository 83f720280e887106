import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerStore

/// What a call gets while another process recovers the wal-index, as it must after a writer died at its header.
@Suite struct IndexRecoveryTests {
    enum Question: CaseIterable {
        case isCallPermitted, run, admit, state

        func isRefused(_ breaker: CircuitBreaker) -> Bool {
            switch self {
            case .isCallPermitted: return !breaker.isCallPermitted
            case .run: return (try? breaker.run {}) == nil
            case .admit: return (try? breaker.admit()) == nil
            case .state:
                if case .open = breaker.state { return true }
                return false
            }
        }
    }

    private func openBreaker(in store: CircuitStore) throws -> CircuitBreaker {
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1, within: .seconds(60))))
        try store.patiently { other in
            let twin = try other.breaker(.init(name: "a", trip: .failures(1, within: .seconds(60))))
            synchronously { twin.recordFailure() }
        }
        return breaker
    }

    @Test(.timeLimit(.minutes(10)), arguments: Question.allCases)
    func aCallWaitsUntilTheIndexIsRecovered(_ question: Question) async throws {
        let store = try StoreFixture.makeStore()
        let breaker = try self.openBreaker(in: store)
        let recovery = try HeldRecovery(store)
        defer { recovery.clear() }
        Thread.detachNewThread {
            // Time for the call to begin; what it gets is the same if it comes later.
            usleep(30_000)
            recovery.letGo()
        }
        #expect(synchronously { question.isRefused(breaker) })
        #expect(store.isHealthy)
    }

    /// What is looked at has a connection of its own.
    @Test(.timeLimit(.minutes(10)))
    func aLongReadWaitsUntilTheIndexIsRecovered() async throws {
        let store = try StoreFixture.makeStore()
        _ = try self.openBreaker(in: store)
        let recovery = try HeldRecovery(store)
        defer { recovery.clear() }
        Thread.detachNewThread {
            usleep(30_000)
            recovery.letGo()
        }
        #expect(try synchronously { try store.circuits().map(\.name) } == ["a"])
    }

    /// Nor does the tool, or a store that only reads, fail at that moment.
    @Test(.timeLimit(.minutes(10)))
    func aBystanderWaitsUntilTheIndexIsRecovered() async throws {
        let store = try StoreFixture.makeStore()
        _ = try self.openBreaker(in: store)
        let recovery = try HeldRecovery(store)
        defer { recovery.clear() }
        var configuration = Stores.configuration(.readOnly)
        configuration.busyTimeout = .hangLimit
        let reader = try CircuitStore(path: store.path, configuration: configuration)
        defer { reader.close() }
        Thread.detachNewThread {
            usleep(30_000)
            recovery.letGo()
        }
        #expect(try synchronously { try reader.circuits().map(\.name) } == ["a"])
    }

    @Test(.timeLimit(.minutes(10)), arguments: Question.allCases)
    func memoryAnswersOnlyOnceTheStoreIsDegraded(_ question: Question) async throws {
        let store = try StoreFixture.makeStore(busyTimeout: .milliseconds(50))
        let breaker = try self.openBreaker(in: store)
        let recovery = try HeldRecovery(store)
        defer { recovery.clear() }
        #expect(synchronously { question.isRefused(breaker) }, "memory begins with the open circuit")
        #expect(!store.isHealthy)
        recovery.letGo()
        #expect(await eventually { store.isHealthy })
        #expect(synchronously { question.isRefused(breaker) })
    }
}
