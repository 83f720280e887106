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

/// A process that can't use a board leaves the board to those who can.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct UnmappableBoardTests {
    /// What a process has run out of.
    enum Lack: String, CaseIterable, Codable, Sendable {
        case places, handlers, mappings, descriptors

        /// Uses up what there is; what is returned keeps it used.
        func useUp(_ scratch: String) throws -> [BoardMapping] {
            Files.write([UInt8](repeating: 0, count: BoardHeader.size), to: scratch)
            let descriptor = unsafe open(scratch, O_RDWR)
            var kept: [BoardMapping] = []
            func map() -> Bool {
                let mapping = BoardMapping(descriptor, offset: 0, size: BoardHeader.size, loss: BoardLoss())
                if let mapping { kept.append(mapping) }
                return mapping != nil
            }
            switch self {
            case .places: while map() {}
            case .handlers:
                // Each is put on top of the library's, which is then put on top again and remembers this one.
                while map() { signal(SIGBUS, { _ in _exit(77) }) }
            case .mappings:
                // Neighbours of the same kind would become one mapping.
                var isReadable = true
                while unsafe mmap(nil, 4_096, isReadable ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
                    != MAP_FAILED
                { isReadable.toggle() }
            case .descriptors: while unsafe open("/dev/null", O_RDONLY) >= 0 {}
            }
            return kept
        }
    }

    @Test(arguments: Lack.allCases) func theBoardStays(lack: Lack) async throws {
        let place = try Workplace.here
        let worker = try await place.openWorker()
        try await worker.ask("breaker users rate=0.5 minimum=20")
        try await worker.ask("fail users 5")
        let board = FoundFile(place.store + "-board")?.number
        await #expect(processExitsWith: .success) {
            [
                lack = lack as Lack, path = place.store as String, clock = place.clock.path as String,
                scratch = place.directory + "/scratch" as String
            ] in
            let file = try StoreFile(resolving: path)
            let header = try #require(BoardReader(at: file.board)).header
            let lock = try LockFile(path: file.lock, creatingWith: nil, owner: nil)
            var configuration = Stores.configuration()
            // It stands still: nobody tells the file anything now and then, for which the board would be opened.
            configuration.clock = try SharedClock(path: clock)
            let store = try CircuitStore(path: path, configuration: configuration)
            // From its registration on, the process prepares to count: it waits for the setup lock meanwhile.
            let (breaker, kept) = try lock.withSetupLock(until: Deadline(after: .hangLimit)) {
                () throws(BreakerStoreError) in
                let breaker = try store.breaker(
                    .init(name: "users", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(60))))
                return (breaker, (try? lack.useUp(scratch)) ?? [])
            }
            struct Bad: Error {}
            for _ in 0..<3 { let _: Void? = try? breaker.run { throw Bad() } }
            let error = #expect(throws: BreakerStoreError.self) {
                try lock.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
                    _ = try Board.openOrCreate(of: file, header.owner)
                }
            }
            Forked.say("\(lack): \(String(describing: error))")
            let isPrivate = store.backend.core?.counting.isPrivate ?? false
            _ = consume kept
            exit(isPrivate && error != nil ? 0 : 1)
        }
        #expect(FoundFile(place.store + "-board")?.number == board)
        // Those who have the board count together as before.
        #expect(try await worker.ask("fail users 30").number("failed") == 15)
    }
}
