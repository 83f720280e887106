import BreakerTestSupport
import FoundationEssentials
import Testing

@testable import BreakerStore

/// Somebody removes the lock file under a store that is open.
///
/// Real time: the store's thread looks once a second.
@Suite(.timeLimit(.minutes(10))) struct LockFileTests {
    @Test func aRemovedLockFileIsRecreatedOnce() async throws {
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

    /// Byte 0 belongs to one thread at a time, though all threads of a process have the lock file open in common.
    @Test func oneThreadHasTheSetupLock() throws {
        try Files.withDirectory { directory in
            let path = directory + "/circuits.db-lock"
            let lock = try LockFile(path: path, creatingWith: 0o600, owner: nil)
            // As another process has it: with a description of its own.
            let other = try LockFile(path: path, creatingWith: nil, owner: nil)
            @Sendable func isFree(_ lock: LockFile) -> Bool {
                (try? lock.withSetupLock(until: Deadline(after: .zero)) {}) != nil
            }
            try lock.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
                let found = Locked<[Bool]>([])
                let thread = StoreThread()
                #expect(thread.start { found.withLock { $0 = [isFree(lock), isFree(other), isFree(lock)] } })
                #expect(thread.waitForEnd(until: Deadline(after: .hangLimit)))
                #expect(found.withLock { $0 } == [false, false, false])
                #expect(!isFree(other), "after the other thread has asked")
            }
            #expect(isFree(other) && isFree(lock))
        }
    }
}
