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

#if os(Linux)
/// In a process of their own: others open files and start threads.
@Suite struct ResourceTests {
    static func entries(_ directory: String) -> Int {
        guard let stream = unsafe opendir(directory) else { return -1 }
        defer { unsafe closedir(stream) }
        var count = 0
        while unsafe readdir(stream) != nil { count += 1 }
        return count
    }

    static func openAndClose(_ times: Int) async throws {
        for _ in 0..<times {
            let store = try StoreFixture.makeStore()
            let breaker = try store.breaker(.init(name: "a"))
            await breaker.recordFailure()
            store.close()
        }
    }

    @Test(.timeLimit(.minutes(10))) func closedStoresLeaveNeitherThreadsNorDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            try await ResourceTests.openAndClose(10)
            let descriptors = ResourceTests.entries("/proc/self/fd")
            let threads = ResourceTests.entries("/proc/self/task")
            try await ResourceTests.openAndClose(100)
            let isSame = await eventually {
                ResourceTests.entries("/proc/self/fd") <= descriptors + 4
                    && ResourceTests.entries("/proc/self/task") <= threads + 4
            }
            exit(isSame ? 0 : 1)
        }
    }

    /// There are enough descriptors to write the file, but not to read it as calls do.
    @Test(.timeLimit(.minutes(10))) func aStoreThatCannotBeReadIsNotBack() async throws {
        let directory = try Files.makeDirectory()
        defer { Files.remove(directory) }
        await #expect(processExitsWith: .success) { [path = directory + "/a.db" as String] in
            let heard = Locked<[Bool]>([])
            let openings = Locked(0)
            var configuration = CircuitStore.Configuration()
            configuration.firstRetry = .milliseconds(10)
            configuration.onHealth = { health in heard.withLock { $0.append(health.isHealthy) } }
            let store = try CircuitStore(path: path, configuration: configuration)
            // No circuit is used yet, so that the connection that reads is not open.
            let core = try #require(store.backend.core)
            Hook.install { name in if name == "open.registered" { openings.withLock { $0 += 1 } } }
            var limit = rlimit(rlim_cur: 96, rlim_max: 96)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var held: [Int32] = []
            while case let descriptor = unsafe open("/dev/null", O_RDONLY), descriptor >= 0 { held.append(descriptor) }
            do throws(BreakerStoreError) {
                _ = try core.row(of: "a")
                exit(2)
            } catch {
                core.readFailed(error)
            }
            // No task may sleep now: its timer would need a descriptor.
            while openings.withLock({ $0 }) < 3, heard.withLock({ !$0.contains(true) }) { usleep(1_000) }
            #expect(heard.withLock { !$0.contains(true) })
            for descriptor in held { close(descriptor) }
            #expect(await eventually { store.isHealthy })
            store.close()
        }
    }

    /// A call in flight comes back in the child too: there nothing may touch the parent's connections.
    @Test(.timeLimit(.minutes(10))) func aForkedChildReportsInMemory() async throws {
        await #expect(processExitsWith: .success) {
            let store = try StoreFixture.makeStore()
            let breaker = try store.breaker(.init(name: "a", trip: .consecutiveFailures(10)))
            synchronously { breaker.recordFailure() }
            let permit = try synchronously { try breaker.admit() }
            let child = forkBesideSleepers(forSeconds: 60)
            if child == 0 {
                synchronously { permit.fail() }
                _exit(0)
            }
            var status: Int32 = 0
            unsafe waitpid(child, &status, 0)
            exit(status == 0 && breaker.failureCount == 1 ? 0 : 1)
        }
    }
}
#endif
