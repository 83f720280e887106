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

/// A process is started with its standard input, output or error closed: the kernel gives these numbers to the next
/// files that it opens, and what it prints goes into them.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct StandardDescriptorTests {
    #if os(Linux)
    @Test(arguments: [[0], [1], [2], [0, 1, 2]] as [[Int32]])
    func whatAProcessPrintsReachesNoFileOfTheStore(closed: [Int32]) async throws {
        let place = try Workplace.here
        await #expect(processExitsWith: .success) { [path = place.store as String, closed = closed as [Int32]] in
            for descriptor in closed { close(descriptor) }
            let store = try CircuitStore(path: path)
            // The board and the file for readers are opened, too.
            let breaker = try store.breaker(
                .init(name: "a", trip: .failureRate(0.5, minimumCalls: 100, within: .seconds(60))))
            synchronously { breaker.recordFailure() }
            for descriptor in closed {
                let file = SmallFile.target(ofLink: "/proc/self/fd/\(descriptor)")
                if file?.hasPrefix(path) == true { exit(2) }
                _ = unsafe write(descriptor, "GET /users 200 in 12 ms, 1,024 bytes\n", 37)
            }
            if Files.read(path + "-lock") != LockFile.magic { exit(3) }
            if breaker.totals.failed != 1 { exit(4) }
            store.close()
        }
        let next = try await place.openWorker()
        #expect(try await next.ask("workers").number("count") == 1)
    }
    #endif

    /// As a worker of 0.5.0 damages it.
    @Test func aDamagedLockFileOfLivingWorkersIsRepaired() async throws {
        let place = try Workplace.here
        let line = Array("GET /users 200 in 12 ms, 1,024 bytes\n".utf8)
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=2")
        let lock = place.store + "-lock"
        Files.write(line + line, to: lock)
        let second = try await place.openWorker()
        #expect(Files.read(lock) == LockFile.magic)
        try await second.ask("breaker users failures=2")
        try await [first, second].ask("fail users")
        #expect(try await first.ask("call users")["cause"] == "open")
        #expect(try await second.ask("workers").number("count") == 2)
    }

    /// Without a living worker nothing shows that the file is a store's.
    @Test func aDamagedLockFileThatNobodyUsesIsRefusedAndKept() async throws {
        let place = try Workplace.here
        let line = Array("GET /users 200 in 12 ms, 1,024 bytes\n".utf8)
        let first = try await place.openWorker()
        await first.die()
        Files.write(line, to: place.store + "-lock")
        await #expect {
            try await place.openWorker()
        } throws: {
            "\($0)".contains("its -lock is not a store's lock file")
        }
        #expect(Files.read(place.store + "-lock") == line)
    }
}
