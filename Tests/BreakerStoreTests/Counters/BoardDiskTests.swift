#if os(Linux)
import BreakerTestSupport
import Glibc
import Testing

@testable import BreakerStore

/// The file system of a store is frozen, or has no block left for the board: healthy calls notice nothing.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct BoardDiskTests {
    private static let reason: Comment = "only root may mount an image of a file system"

    /// A file system on which three workers have a store, of which the first measures.
    private static func onDisk(
        _ kind: LoopDisk.Kind,
        _ harm: @escaping (LoopDisk, String, [WorkerProcess]) async throws -> Void
    ) async throws {
        let place = try Workplace.here
        let disk = try await LoopDisk(kind, in: place.directory)
        defer { disk.clear() }
        let path = disk.directory + "/circuits.db"
        let workers = try (0..<3).map { _ in try place.worker() }
        try await workers.ask("open \(path) busy=1 system-clock")
        try await workers.ask("breaker users rate=1 minimum=1000000 window=10")
        try await workers.ask("fail users 5")
        async let during = CallFigures.measure(workers[0], "users", for: 5_000)
        try await Task.sleep(for: .milliseconds(200))
        try await harm(disk, path, workers)
        try await during.expectOwnEnds()
        try await LostBoardProcessTests.expectCommonCounts(workers)
        for worker in workers { #expect(await worker.quit() == 0) }
    }

    @Test(
        .enabled(if: LoopDisk.Kind.ext4.isAvailable, Self.reason),
        arguments: LoopDisk.Kind.allCases.filter(\.isAvailable))
    func healthyCallsGoOnWhereTheFileSystemIsFrozen(kind: LoopDisk.Kind) async throws {
        try await Self.onDisk(kind) { disk, _, workers in
            try await workers[2].ask("call users 100")
            async let reply = workers[1].ask("fail users 20")
            // It is frozen until calls have come back: one that waited for it would hang.
            try await disk.freeze {
                for _ in 0..<10 {
                    #expect(try await workers[2].ask("call users 1000").number("ran") == 1_000)
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            #expect(try await reply.number("failed") == 20)
        }
    }

    /// The board shares its blocks with a copy, and the disk has no room for others.
    @Test(
        .enabled(if: [LoopDisk.Kind.btrfs, .xfs].contains(where: \.isAvailable), Self.reason),
        arguments: [LoopDisk.Kind.btrfs, .xfs].filter(\.isAvailable))
    func healthyCallsGoOnWhereTheBoardHasNoBlock(kind: LoopDisk.Kind) async throws {
        try await Self.onDisk(kind) { disk, path, workers in
            let copy = disk.directory + "/copy"
            try await disk.share(path + "-board", with: copy)
            let small = SmallDisk(mountedAt: disk.directory)
            try small.fill()
            // A store into the mapping is a fault now, which ends the board for this process.
            var isPrivate = false
            for _ in 0..<100 where !isPrivate {
                try await workers[1].ask("fail users")
                isPrivate = try await workers[1].ask("private")["private"] == "true"
            }
            // XFS may have kept blocks back for it.
            if kind == .btrfs { #expect(isPrivate) }
            try await Task.sleep(for: .milliseconds(1_000))
            small.free()
            unsafe unlink(copy)
        }
    }
}
#endif
