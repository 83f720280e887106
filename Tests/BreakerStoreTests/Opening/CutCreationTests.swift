import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a power cut leaves of a store that is just being created: a file may have its size before it has its bytes.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CutCreationTests {
    /// The rollback journal of a transaction in a database of so many pages.
    private static func journal(pages: UInt8) -> [UInt8] {
        let header: [UInt8] = [
            0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, pages, 0, 0, 2, 0, 0, 0,
            16, 0,
        ]
        return header + [UInt8](repeating: 0, count: 512 - header.count)
    }

    private func requireStore(_ path: String) throws {
        let store = try CircuitStore(path: path)
        let breaker = try store.breaker(
            .init(name: "a", recoveryTimeout: .seconds(30), maxFailures: 1, rollingWindow: .seconds(60)))
        breaker.recordFailure()
        #expect(!breaker.isCallPermitted)
        store.close()
        #expect(Files.read(path + "-lock") == LockFile.magic)
        #expect(Directory.names(in: try Workplace.here.directory).filter { $0.hasSuffix("-journal") }.isEmpty)
    }

    @Test(arguments: [1, 10, LockFile.magic.count])
    func lockFileOfZeros(count: Int) throws {
        let path = try Workplace.here.store
        Files.write([UInt8](repeating: 0, count: count), to: path + "-lock")
        try self.requireStore(path)
    }

    /// SQLite makes the file empty again, by its journal.
    @Test func databaseOfZerosWithAJournalOfNothing() throws {
        let path = try Workplace.here.store
        Files.write([UInt8](repeating: 0, count: 28_672), to: path)
        Files.write(Self.journal(pages: 0), to: path + "-journal")
        try self.requireStore(path)
    }

    /// There was something before: nobody knows whose.
    @Test func zerosWithAJournalOfSomethingAreRefused() throws {
        let path = try Workplace.here.store
        let bytes = [UInt8](repeating: 0, count: 28_672)
        Files.write(bytes, to: path)
        Files.write(Self.journal(pages: 7), to: path + "-journal")
        #expect(throws: BreakerStoreError.self) { try CircuitStore(path: path) }
        #expect(Files.read(path) == bytes)
    }
}
