import BreakerTestSupport
import Dispatch
import Foundation
import Testing

@testable import BreakerStore

/// The cached answer as a seqlock: what is read was published as a whole, or it is no answer.
@Suite struct DecisionCacheTests {
    /// A slot for several threads.
    private final class Shared: Sendable {
        let cache = DecisionCache()
    }

    @Test func neverGivesHalfAnAnswer() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let held = try #require(store.gate.tag())
        let shared = Shared()
        let rounds: Int64 = 20_000
        let group = DispatchGroup()
        let torn = Locked(0)
        let seen = Locked(0)
        for _ in 0..<2 {
            Thread.detach(group) {
                var last: Epoch = 0
                while last < Epoch(rounds) {
                    let answer = shared.cache.read(store.gate)
                    guard answer.kind != .unknown else { continue }
                    if answer.epoch != Epoch(answer.until.microseconds) || answer.epoch < last {
                        torn.withLock { $0 += 1 }
                    }
                    last = answer.epoch
                }
                seen.withLock { $0 += 1 }
            }
        }
        for round in 1...rounds {
            shared.cache.publish(
                CallDecision(.open, epoch: Epoch(round), until: Uptime(microseconds: round)),
                readUnder: held.tag,
                generation: held.generation
            )
        }
        group.wait()
        #expect(torn.withLock { $0 } == 0)
        #expect(seen.withLock { $0 } == 2)
    }

    @Test func holdsOnlyForTheHeaderAndTheOpening() throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let held = try #require(store.gate.tag())
        let cache = DecisionCache()
        cache.publish(CallDecision(.proceed, epoch: 1, until: 0), readUnder: held.tag, generation: held.generation + 1)
        #expect(cache.read(store.gate).kind == .unknown)
        cache.publish(CallDecision(.proceed, epoch: 1, until: 0), readUnder: held.tag, generation: held.generation)
        #expect(cache.read(store.gate).kind == .proceed)
        _ = try store.breaker(.init(name: "a"))
        #expect(cache.read(store.gate).kind == .unknown)
    }

    @Test func aHeldCircuitIsAnsweredFromTheCacheUntilItsTimeIsOver() throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
        configuration.clock = clock
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a"))
        for (state, verdict) in [(HoldState.open, CallDecision.Kind.heldOpen), (.closed, .heldClosed)] {
            try store.hold("a", state, for: .seconds(10))
            _ = try? breaker.admit()
            #expect(breaker.circuit.cache.read(store.gate).kind == verdict)
            clock.advance(by: .microseconds(9_999_999))
            #expect(breaker.isCallPermitted == (state == .closed))
            #expect((try? breaker.admit()) == nil ? state == .open : state == .closed)
            clock.advance(by: .microseconds(1))
            #expect((try? breaker.admit()) != nil)
        }
    }
}

extension Thread {
    static func detach(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
}
