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

/// What a kill or a crash leaves of the wal-index and of the log keeps nobody from opening the store.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct TornIndexTests {
    /// A process was killed while it wrote the header; the next that writes makes it anew, but one that only looks
    /// can't.
    @Test func headerTornUnderALiveWorkerKeepsNobodyOut() async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=2")
        try await first.ask("fail users")
        Self.overwrite(place.store + "-shm", with: [UInt8](repeating: 0xA5, count: 48))
        let second = try await place.openWorker()
        try await second.ask("breaker users failures=2")
        try await second.ask("fail users")
        for worker in [first, second] { #expect(try await worker.ask("call users").number("refused") == 1) }
    }

    /// The index, still there, tells of a log that is no more.
    @Test(arguments: [1, 31, 33, 9_000]) func garbageInPlaceOfTheLogKeepsNobodyOut(size: Int) throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        try #require(StoreFile.size(path + "-shm") != nil)
        Files.write([UInt8](repeating: 0xA5, count: size), to: path + "-wal")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        _ = try store.breaker(Stores.config("b"))
        #expect(store.isHealthy)
    }

    /// Changes the first bytes of a file that others have mapped.
    private static func overwrite(_ path: String, with bytes: [UInt8]) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
        if count != bytes.count { Issue.record("cannot write \(path)") }
        close(descriptor)
    }
}
