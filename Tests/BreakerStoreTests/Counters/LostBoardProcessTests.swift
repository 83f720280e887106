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

/// Somebody does something to the board's file under processes that call: healthy calls notice nothing, failing ones
/// keep their deadline, nobody dies, and all of them count together again.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LostBoardProcessTests {
    enum Harm: String, CaseIterable, Sendable {
        case cut, cutToAPart, removed, replaced, replacedByGarbage, overwritten, directory

        func befall(_ path: String, _ round: Int) {
            switch self {
            case .cut: unsafe truncate(path, 0)
            case .cutToAPart: unsafe truncate(path, 5_000 * off_t(round + 1))
            case .removed: unsafe unlink(path)
            case .replaced:
                Files.copy(path, to: path + "-copy")
                unsafe rename(path + "-copy", path)
            case .replacedByGarbage:
                Files.write(Self.garbage(50_000), to: path + "-other")
                unsafe rename(path + "-other", path)
            case .overwritten: Self.overwrite(path)
            case .directory:
                unsafe unlink(path)
                unsafe mkdir(path, 0o700)
            }
        }

        func end(_ path: String) { if self == .directory { unsafe rmdir(path) } }

        private static func garbage(_ size: Int) -> [UInt8] { (0..<size).map { _ in UInt8.random(in: 0...255) } }

        /// In place, under those who have it in memory.
        private static func overwrite(_ path: String) {
            let descriptor = unsafe open(path, O_WRONLY)
            let bytes = Self.garbage(max(0, Int(lseek(descriptor, 0, SEEK_END))))
            _ = unsafe pwrite(descriptor, bytes, bytes.count, 0)
            close(descriptor)
        }
    }

    @Test(arguments: Harm.allCases) func healthyCallsNoticeNothing(harm: Harm) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2, "busy=2 system-clock")
        try await workers.ask("breaker users rate=1 minimum=1000000 window=10")
        try await workers.ask("fail users 5")
        async let during = CallFigures.measure(workers[0], "users", for: 3_000)
        for round in 0..<5 {
            harm.befall(place.store + "-board", round)
            try await workers[1].ask("fail users 10")
            try await Task.sleep(for: .milliseconds(500))
            harm.end(place.store + "-board")
        }
        try await during.expectOwnEnds()
        try await Self.expectCommonCounts(workers)
        for worker in workers { #expect(await worker.quit() == 0) }
    }

    /// What each of them counts from now on is in the totals of both, once they have found a board.
    static func expectCommonCounts(_ workers: [WorkerProcess]) async throws {
        for (here, there) in [(0, 1), (1, 0)] {
            // Nobody is heard before all have found the new board, which they look for once a second.
            var (told, before) = (0, 0)
            repeat {
                before = try #require(try await workers[there].ask("totals users").number("failed"))
                try await workers[here].ask("fail users 10")
                told = try #require(try await workers[there].ask("totals users").number("failed"))
                if told - before != 10 { try await Task.sleep(for: .milliseconds(100)) }
            } while told - before != 10
            #expect(try await workers[here].ask("private")["private"] == "false")
        }
        for worker in workers {
            // Until a store's next look, its health is that of a write that came too late.
            while try await worker.ask("health")["health"] != "healthy" {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
