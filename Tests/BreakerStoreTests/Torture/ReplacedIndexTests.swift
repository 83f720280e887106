import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Somebody has removed the -shm, and others have made another: who still has the old one must not write to the log,
/// for it does not know what they have written there.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ReplacedIndexTests {
    @Test func whoClosesDestroysNothingOfWhatOthersHaveWritten() async throws {
        let place = try Workplace.here
        // Without a circuit it does not look whether its files are in place.
        let old = try await place.openWorkers(4)
        #expect(unsafe unlink(place.store + "-shm") == 0)
        let new = try await place.openWorker()
        try await new.ask("breaker a failures=100")
        for worker in old {
            try await new.ask("fail a 5")
            try await worker.ask("close")
            try await new.ask("fail a 5")
        }
        await new.die()

        // Nobody has the index: it is recovered from the log.
        let third = try await place.openWorker()
        try await third.ask("breaker a failures=100")
        #expect(try await third.ask("look a").number("failures") == 40)
        #expect(Foreign.value(place.store, "PRAGMA integrity_check") == "ok")
    }

    #if BREAKERSTORE_HOOKS
    @Test func nobodyCommitsOnceTheIndexIsGone() async throws {
        let path = try Workplace.here.store
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            let breaker = try store.breaker(Stores.config(maxFailures: 100))
            let reached = Locked<[String]>([])
            Hook.install { name in
                let isFirst = reached.withLock {
                    $0.append(name)
                    return name == "commit.begin" && $0.count(where: { $0 == name }) == 1
                }
                if isFirst { unsafe unlink(path + "-shm") }
            }
            synchronously { breaker.recordFailure() }
            #expect(await eventually { store.isHealthy })
            let names = reached.withLock { $0 }
            let begun = try #require(names.firstIndex(of: "commit.begin"))
            #expect(names[(begun + 1)...].first != "commit.done")
            // What was reported is committed to the log under the new index.
            #expect(await eventually { breaker.failureCount == 1 })
            store.close()
        }
    }
    #endif
}
