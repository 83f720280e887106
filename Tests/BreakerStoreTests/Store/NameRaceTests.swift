import BreakerTestSupport
import Dispatch
import Testing

@testable import BreakerStore

/// Handles come and go on all threads while the clock runs through minutes.
@Suite(.timeLimit(.minutes(10))) struct NameRaceTests {
    private static let names = 40
    private static let threads = 6

    @Test(arguments: [nil, .seconds(240)] as [Duration?])
    func noneIsLostAndNoneIsLeft(_ forgetIdleAfter: Duration?) async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = .hangLimit
        configuration.durability = .processCrash
        configuration.forgetIdleAfter = forgetIdleAfter
        let path = directory + "/a.db"
        let stores = [
            try CircuitStore(path: path, configuration: configuration),
            try CircuitStore(path: path, configuration: configuration),
        ]
        defer { for store in stores { store.close() } }
        let core = try #require(stores[0].backend.core)
        let end = Deadline(after: .seconds(1))
        await withTaskGroup { group in
            for thread in 0..<Self.threads {
                group.addTask {
                    await onThread {
                        var random = SplitMix64(seed: UInt64(thread))
                        var held: [CircuitBreaker] = []
                        while !end.isOver {
                            let name = "n\(random.next() % UInt64(Self.names))"
                            let store = stores[Int(random.next() % 2)]
                            guard let breaker = try? store.breaker(.init(name: name)) else { continue }
                            if random.next().isMultiple(of: 8) { breaker.recordFailure() }
                            if random.next().isMultiple(of: 16) { try? store.forget(name) }
                            held.append(breaker)
                            if held.count > 4 { held.removeFirst(Int(random.next() % 4)) }
                        }
                    }
                }
            }
            group.addTask {
                await onThread {
                    while !end.isOver {
                        clock.advance(by: .seconds(61))
                        core.requestMaintenance()
                        Deadline(after: .milliseconds(2)).sleep()
                    }
                }
            }
        }
        var kept = try (0..<Self.names / 2).map { try stores[$0 % 2].breaker(.init(name: "n\($0)")) }
        // A circuit that was forgotten while a handle was there is registered at the next call.
        for breaker in kept { await breaker.recordFailure() }
        func registered() -> Set<String> {
            Set(((try? stores[0].circuits()) ?? []).filter { $0.workers == 1 }.map(\.name))
        }
        let expected = Set(kept.map(\.name))
        #expect(
            await eventually {
                clock.advance(by: .seconds(61))
                core.requestMaintenance()
                return registered() == expected && Set(core.circuits.all.map(\.name)) == expected
            },
            "\(registered()) \(core.circuits.all.map(\.name))"
        )
        for breaker in kept { #expect(breaker.isCallPermitted || breaker.state.isOpen) }
        kept = []
        #expect(
            await eventually {
                clock.advance(by: .seconds(61))
                core.requestMaintenance()
                return registered().isEmpty && core.circuits.isEmpty
            },
            "\(registered()) \(core.circuits.all.map(\.name))"
        )
    }
}

/// Runs `body` on a thread of its own.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "names").async {
            body()
            continuation.resume()
        }
    }
}
