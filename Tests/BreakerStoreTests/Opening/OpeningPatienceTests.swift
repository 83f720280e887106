import Testing

@testable import BreakerStore

/// How long opening waits for others.
///
/// Real time: the waits for other processes go by it.
@Suite(.timeLimit(.minutes(10))) struct OpeningPatienceTests {
    @Test func isWhatIsConfigured() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            let other = Foreign(path, keepsLog: true)
            other.run("BEGIN IMMEDIATE")
            defer { other.run("ROLLBACK") }
            var configuration = Stores.configuration()
            configuration.busyTimeout = .milliseconds(10)
            configuration.openingPatience = .milliseconds(50)
            var error: BreakerStoreError?
            let elapsed = ContinuousClock().measure {
                do throws(BreakerStoreError) {
                    try CircuitStore(path: path, configuration: configuration).close()
                } catch let failure {
                    error = failure
                }
            }
            #expect(error?.code == .busy)
            // Far below the ten seconds that are the default.
            #expect(elapsed < .seconds(9))
        }
    }
}
