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

    /// A call in flight comes back in the child too: there nothing may touch the parent's connections.
    @Test(.timeLimit(.minutes(10))) func aForkedChildReportsInMemory() async throws {
        await #expect(processExitsWith: .success) {
            typealias Fork = @convention(c) () -> Int32
            guard let symbol = unsafe dlsym(nil, "fork") else { exit(2) }
            let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
            let store = try StoreFixture.makeStore()
            let breaker = try store.breaker(.init(name: "a", trip: .consecutiveFailures(10)))
            synchronously { breaker.recordFailure() }
            let permit = try synchronously { try breaker.admit() }
            let child = fork()
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
