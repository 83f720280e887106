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

/// A lone report of a task is committed by the task's own thread.
@Suite(.timeLimit(.minutes(10))) struct InPassingTests {
    /// On which thread a brief change was made.
    private enum Where: Equatable { case callersThread, otherThread }

    private nonisolated(nonsending) static func change(_ core: StoreCore) async throws -> Where {
        let before = Self.thread
        let during = try await core.commit(until: Deadline(after: .seconds(20)), isBrief: true) { _ in Self.thread }
        return before == during ? .callersThread : .otherThread
    }

    /// The calling thread.
    private static var thread: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }

    private static func core(_ fixture: StoreFixture) throws -> StoreCore { try #require(fixture.core) }

    @Test func isMadeByTheTasksThread() async throws {
        let fixture = try StoreFixture()
        let core = try Self.core(fixture)
        let place = try await Task.detached { try await Self.change(core) }.value
        #expect(place == .callersThread)
    }

    @Test func isNotMadeByTheMainThread() async throws {
        let fixture = try StoreFixture()
        let core = try Self.core(fixture)
        let place = try await Task { @MainActor in try await Self.change(core) }.value
        #expect(place == .otherThread)
    }

    @Test func isNotMadeWhereEachCommitIsSynced() async throws {
        var configuration = CircuitStore.Configuration()
        configuration.durability = .everyCommit
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let core = try #require(store.backend.core)
        let place = try await Task.detached { try await Self.change(core) }.value
        #expect(place == .otherThread)
    }

    /// Another process writes just now: no thread of the pool waits for it.
    @Test func isLeftToTheStoresThreadWhileAnotherWrites() async throws {
        let fixture = try StoreFixture()
        let core = try Self.core(fixture)
        let other = Database(try Connection(path: fixture.store.backend.file.path, access: .readWrite))
        let isLocked = try other.begin(unless: { true })
        #expect(isLocked)
        let task = Task.detached { try await Self.change(core) }
        #expect(await eventually { core.isThreadLeading })
        other.rollback()
        #expect(try await task.value == .otherThread)
        #expect(fixture.isHealthy)
    }

    /// A change that can't be made in passing is made by the store's thread, which sees to what is wrong.
    @Test func rowThatCantBeReadIsHealed() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        let path = fixture.store.backend.file.path
        Foreign.run(
            path, "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET recovery_jitter = 7", keepsLog: true)
        for _ in 0..<3 { await Task.detached { await breaker.recordFailure() }.value }
        #expect(fixture.isHealthy)
        #expect(!breaker.isCallPermitted)
    }

    #if BREAKERSTORE_HOOKS
    /// A trip is committed in passing, synced by the store's thread, and told only then.
    @Test func tripIsSyncedByTheStoresThread() async {
        await #expect(processExitsWith: .success) {
            let store = try StoreFixture.makeStore()
            let core = try #require(store.backend.core)
            let breaker = try store.breaker(.init(name: "a", trip: .failures(2, within: .seconds(60))))
            let told = Locked(false)
            let seen = Locked<[String]>([])
            Hook.install { name in
                guard name == "commit.made" || name == "sync.begin" else { return }
                let thread = core.isThreadLeading ? "thread" : "caller"
                let isTold = told.withLock { $0 }
                seen.withLock { $0.append("\(name) \(thread)\(isTold ? " told" : "")") }
            }
            for _ in 0..<2 {
                await Task.detached {
                    await breaker.recordFailure()
                    told.withLock { $0 = true }
                }.value
                told.withLock { $0 = false }
            }
            Hook.install(nil)
            #expect(seen.withLock { $0 } == ["commit.made caller", "commit.made caller", "sync.begin thread"])
            #expect(!breaker.isCallPermitted)
            store.close()
        }
    }
    #endif
}
