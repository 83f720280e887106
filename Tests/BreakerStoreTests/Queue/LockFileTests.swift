import FoundationEssentials
import Testing

@testable import BreakerStore

/// Somebody removes the lock file under a store that is open.
///
/// Real time: the store's thread looks once a second.
@Suite(.timeLimit(.minutes(10))) struct LockFileTests {
    @Test func aRemovedLockFileIsMadeAnewOnce() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        await breaker.recordFailure()
        let file = try #require(fixture.core?.file)
        try FileManager.default.removeItem(atPath: file.lock)
        #expect(await eventually { (try? fixture.store.history().contains { $0.kind == .restored }) ?? false })
        #expect(FileManager.default.fileExists(atPath: file.lock))
        // The thread looks again at once after it has worked: by then it would have lost the file once more.
        for _ in 0..<50 {
            await breaker.recordSuccess()
            try await breaker.run {}
            fixture.core?.thread.wake()
            await Task.yield()
        }
        try await fixture.store.reset("a")
        #expect(fixture.isHealthy)
        #expect(try await fixture.store.history().filter { $0.kind == .degraded }.count == 1)
    }
}
