import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Failures that a process sees before it has read the circuit for the first time count in the file all the same.
@Suite(.timeLimit(.minutes(10))) struct FirstReportTests {
    private func configuration() -> CircuitStore.Configuration {
        var configuration = CircuitStore.Configuration()
        configuration.whenUnavailable = .degrade
        configuration.busyTimeout = .milliseconds(100)
        configuration.openingPatience = .milliseconds(100)
        configuration.firstRetry = .milliseconds(5)
        return configuration
    }

    /// The service starts while another process opens the store, and memory guards.
    @Test func afterAStartWhileOthersHaveTheSetupLock() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = "\(directory)/a.db"
        let config = Stores.config(maxFailures: 5)
        let first = try CircuitStore(path: path, configuration: Stores.configuration())
        let before = try first.breaker(config)
        for _ in 0..<2 { synchronously { before.recordFailure() } }
        first.close()

        let lock = try LockFile(path: "\(path)-lock", creatingWith: nil, owner: nil)
        var late: CircuitStore?
        var breaker: CircuitBreaker?
        try lock.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
            let store = try CircuitStore(path: path, configuration: self.configuration())
            late = store
            let handle = try store.breaker(config)
            breaker = handle
            var ran = 0
            for _ in 0..<7 {
                struct Down: Error {}
                try? synchronously {
                    try handle.run {
                        ran += 1
                        throw Down()
                    }
                }
            }
            // Memory opened its own circuit at the fifth.
            #expect(ran == 5)
        }
        let store = try #require(late)
        defer { store.close() }
        let handle = try #require(breaker)
        #expect(await eventually { store.isHealthy })
        #expect(await eventually { handle.circuitIsOpen })
    }

    /// A circuit that is registered while the file can't be written.
    @Test(arguments: [false, true])
    func ofACircuitThatIsRegisteredWhileTheFileIsLocked(isKnown: Bool) async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        let path = "\(directory)/a.db"
        let config = Stores.config(maxFailures: 3)
        if isKnown {
            let first = try CircuitStore(path: path, configuration: Stores.configuration())
            let before = try first.breaker(config)
            synchronously { before.recordFailure() }
            first.close()
        }
        let store = try CircuitStore(path: path, configuration: self.configuration())
        defer { store.close() }
        let lock = try WriteLock(store)
        let handle = try store.breaker(config)
        for _ in 0..<2 { synchronously { handle.recordFailure() } }
        #expect(!store.isHealthy)
        try lock.release()
        #expect(await eventually { store.isHealthy })
        let expected = isKnown ? 3 : 2
        #expect(await eventually { ((try? store.circuit(named: "a")) ?? nil)?.failures.count == expected })
        #expect(handle.circuitIsOpen == isKnown)
    }
}
