import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Whatever a transaction changes, its pages get into the log at COMMIT alone, after the look at the index.
@Suite(.timeLimit(.minutes(10))) struct LargeTransactionTests {
    @Test func logIsNotWrittenBeforeCommit() throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        let log = core.file.log
        let before = try #require(Files.read(log))
        try core.commit(until: Deadline(after: .hangLimit)) { (transaction) throws(BreakerStoreError) in
            for number in 0..<20_000 { try transaction.register(.init(name: "circuit number \(number)")) }
            let isUntouched = Files.read(log) == before
            #expect(isUntouched)
        }
        let isWritten = Files.read(log) != before
        #expect(isWritten)
    }
}
