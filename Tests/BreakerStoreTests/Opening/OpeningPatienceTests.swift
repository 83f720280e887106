import BreakerTestSupport
import Testing

@testable import BreakerStore

/// How long opening waits for others.
///
/// Real time: the waits for other processes go by it.
@Suite(.timeLimit(.minutes(10))) struct OpeningPatienceTests {
    /// Two wait for locks, each of a file of its own, that are held until the less patient one has given up, twice: the
    /// other one has not, and opens.
    @Test func isWhatIsConfigured() throws {
        try Files.withDirectory { directory in
            let paths = ["\(directory)/a.db", "\(directory)/b.db"]
            for path in paths { try Stores.make(path) }
            let others = paths.map { Foreign($0, keepsLog: true) }
            for other in others { other.run("BEGIN IMMEDIATE") }
            let patient = Locked<Result<Void, BreakerStoreError>?>(nil)
            let thread = StoreThread()
            let isStarted = thread.start {
                let result = Result { () throws(BreakerStoreError) in try Self.open(paths[0], patience: .forEver) }
                patient.withLock { $0 = result }
            }
            #expect(isStarted)
            // Twice: if both had the same patience, the other one would have given up by then.
            for _ in 0..<2 {
                let error = #expect(throws: BreakerStoreError.self) {
                    try Self.open(paths[1], patience: .milliseconds(50))
                }
                #expect(error?.code == .busy)
            }
            #expect(patient.withLock { $0 } == nil)
            for other in others { other.run("ROLLBACK") }
            #expect(thread.waitForEnd(until: Deadline(after: .hangLimit)))
            try patient.withLock { try #require($0) }.get()
        }
    }

    private static func open(_ path: String, patience: Duration) throws(BreakerStoreError) {
        var configuration = Stores.configuration()
        configuration.busyTimeout = .milliseconds(10)
        configuration.openingPatience = patience
        try CircuitStore(path: path, configuration: configuration).close()
    }
}
