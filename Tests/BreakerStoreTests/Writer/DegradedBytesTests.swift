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

/// A worker that can't use the file shows it by locked bytes, for which it needs no disk.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct DegradedBytesTests {
    private static func found() throws -> [DegradedBytes] {
        DegradedBytes.found(at: try Workplace.here.store + "-lock")
    }

    private static func isFound(_ bytes: [DegradedBytes]) async throws -> Bool {
        let lock = try Workplace.here.store + "-lock"
        return await eventually { DegradedBytes.found(at: lock) == bytes }
    }

    /// The number of the only worker.
    private static func worker() throws -> WorkerID {
        WorkerID(try #require(Foreign.number(try Workplace.here.store, "SELECT id FROM worker")))
    }

    @Test func aWorkerOfAnEarlierMajorVersionIsFoundUntilItEnds() async throws {
        let here = try Workplace.here
        let worker = try await here.openWorker()
        try await worker.ask("breaker a failures=100")
        let id = try Self.worker()
        #expect(try Self.found() == [])
        // What the next release does to the file, to whose rows of workers this one stays.
        Foreign.run(here.store, "PRAGMA user_version = 4000", keepsLog: true)
        try await worker.ask("fail a 1")
        #expect(try await Self.isFound([DegradedBytes(worker: id, reason: .newerSchema)]))
        #expect(try await here.worker().ask("locked \(here.store) \(id)").number("locked") == 1)
        #expect(Foreign.value(here.store, "SELECT version FROM worker WHERE id = \(id)") == Versions.library)
        await worker.die()
        #expect(try Self.found() == [])
    }

    /// The migration takes longer than a worker waits: at first the file is only locked.
    @Test func theReasonIsThatOfTheLastAttempt() async throws {
        let here = try Workplace.here
        let worker = try here.worker()
        try await worker.ask("open \(here.store) busy=0.01")
        try await worker.ask("breaker a failures=100")
        let id = try Self.worker()
        let migration = Foreign(here.store, keepsLog: true)
        migration.run("BEGIN IMMEDIATE; PRAGMA user_version = 4000")
        try await worker.ask("fail a 1")
        #expect(try await Self.isFound([DegradedBytes(worker: id, reason: .busy)]))
        migration.run("COMMIT")
        #expect(try await Self.isFound([DegradedBytes(worker: id, reason: .newerSchema)]))
    }

    @Test func aWorkerThatCouldNotUseTheFileFromTheStartIsFound() async throws {
        let here = try Workplace.here
        await (try await here.openWorker()).quit()
        let other = Foreign(here.store, keepsLog: true)
        other.run("BEGIN IMMEDIATE")
        let worker = try here.worker()
        try await worker.ask("open \(here.store) degrade busy=0.01")
        let lock = here.store + "-lock"
        #expect(await eventually { DegradedBytes.found(at: lock).map(\.reason) == [.busy] })
        other.run("ROLLBACK")
        #expect(try await Self.isFound([]))
        try await worker.ask("healthy 120000")
    }

    /// Somebody removes the lock file of a worker that can't use the file: it is made again, and the bytes are in it.
    @Test func theBytesMoveToANewLockFile() async throws {
        let here = try Workplace.here
        let worker = try here.worker()
        try await worker.ask("open \(here.store) busy=0.01")
        try await worker.ask("breaker a failures=100")
        let id = try Self.worker()
        let other = Foreign(here.store, keepsLog: true)
        other.run("BEGIN IMMEDIATE")
        try await worker.ask("fail a 1")
        #expect(try await Self.isFound([DegradedBytes(worker: id, reason: .busy)]))
        let lock = here.store + "-lock"
        Directory.remove(lock)
        #expect(await eventually { DegradedBytes.found(at: lock).count == 1 })
        other.run("ROLLBACK")
        #expect(try await Self.isFound([]))
    }

    @Test func closingFreesThem() async throws {
        let here = try Workplace.here
        let worker = try here.worker()
        try await worker.ask("open \(here.store) busy=0.01")
        try await worker.ask("breaker a failures=100")
        Foreign.run(here.store, "PRAGMA user_version = 4000", keepsLog: true)
        try await worker.ask("fail a 1")
        let lock = here.store + "-lock"
        #expect(await eventually { DegradedBytes.found(at: lock).count == 1 })
        try await worker.ask("close")
        #expect(try Self.found() == [])
    }

    /// Each reason that has a number is told by the length of the lock.
    @Test func manyAreToldApart() throws {
        try Files.withDirectory { directory in
            let path = directory + "/circuits.db-lock"
            let reasons = [nil] + (1...12).map { BreakerStoreError.Code(number: $0) }
            var locks: [LockFile] = []
            var locked: Set<DegradedBytes> = []
            for number in 0..<300 {
                let lock = try LockFile(path: path, creatingWith: 0o600, owner: nil)
                let worker = WorkerID.random(in: LockFile.workers)
                #expect(lock.lock(worker: worker))
                // The last one counts.
                for reason in [BreakerStoreError.Code.foreignSchema, reasons[number % reasons.count]] {
                    #expect(lock.lock(DegradedBytes(worker: worker, reason: reason)))
                }
                locked.insert(DegradedBytes(worker: worker, reason: reasons[number % reasons.count]))
                locks.append(lock)
            }
            #expect(Set(DegradedBytes.found(at: path)) == locked)
            locks.removeAll()
            #expect(DegradedBytes.found(at: path) == [])
        }
    }

    enum Enemy: CaseIterable {
        case all, first, last, veryMany

        fileprivate var ranges: [Range<Int64>] {
            let first: Int64 = (1 << 62) + (1 << 32)
            return switch self {
            case .all: [0..<Int64.max]
            case .first: [first..<first + 1]
            case .last: [Int64.max - 1..<Int64.max]
            case .veryMany: (0..<5_000).map { first + $0 * 3..<first + $0 * 3 + 1 }
            }
        }
    }

    /// An enemy may lock what he likes: at most so much is read.
    @Test(arguments: Enemy.allCases) func whatAnEnemyLocksIsRead(enemy: Enemy) throws {
        try Files.withDirectory { directory in
            let path = directory + "/circuits.db-lock"
            _ = try LockFile(path: path, creatingWith: 0o600, owner: nil)
            guard let file = OpenFile(path, O_RDWR) else { throw SystemError("open a lock file") }
            for range in enemy.ranges {
                #expect(
                    ByteLock.lock(
                        file.descriptor, at: ByteIndex(range.lowerBound), count: range.upperBound - range.lowerBound))
            }
            #expect(DegradedBytes.found(at: path).count == min(enemy.ranges.count, 4_000))
        }
    }
}
