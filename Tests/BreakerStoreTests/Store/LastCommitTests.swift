import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a process remembers of its last commit, in place of reading.
@Suite(.timeLimit(.minutes(10))) struct LastCommitTests {
    private let fixture: StoreFixture
    private let core: StoreCore

    init() throws {
        self.fixture = try StoreFixture()
        self.core = try #require(self.fixture.core)
    }

    private func verdict(_ breaker: CircuitBreaker) -> CachedAnswer.Verdict {
        breaker.circuit.slot.ask(self.fixture.store.gate).verdict
    }

    @Test func theNextCallHasItsAnswer() throws {
        let breaker = try self.fixture.breaker(trip: .failures(3, within: .seconds(60)))
        breaker.recordFailure()
        #expect(self.verdict(breaker) == .proceed)
        breaker.recordFailure()
        #expect(self.verdict(breaker) == .proceed)
        breaker.recordFailure()
        #expect(self.verdict(breaker) == .open)
    }

    #if BREAKERSTORE_HOOKS
    /// What others do between a commit and the look at the header that the commit has made.
    enum Afterwards: CaseIterable, Codable {
        case nothing
        case commit
        /// A checkpoint, then as many commits as make the log as long as it was.
        case sameLength
    }

    /// What the own commit does.
    enum Own: CaseIterable, Codable {
        case appends
        /// It finds the whole log copied, and begins the log anew.
        case beginsTheLog
        case writesNothing
    }

    /// A header is taken for the own commit's only if nobody has committed since, also if the log has begun anew.
    @Test(arguments: Own.allCases, Afterwards.allCases)
    func proof(_ own: Own, _ afterwards: Afterwards) async throws {
        await #expect(processExitsWith: .success) { [own, afterwards] in
            try Files.withDirectory { directory in
                let path = directory + "/a.db"
                try Stores.make(path)
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                let writer = try #require(store.backend.core?.writer.opened?.writer)
                let other = Database(try Connection(path: path, access: .readWrite))
                try other.connection.configureForSharing()
                @Sendable func header() -> BreakerStore.Tag? { writer.connection.walIndex()?.tag() }
                @Sendable func commitByOther() throws {
                    try other.transaction(until: Deadline(after: .seconds(20))) { () throws(BreakerStoreError) in
                        try other.run("UPDATE worker SET since = since - 1")
                    }
                }
                try commitByOther()
                if own == .beginsTheLog { try other.connection.passiveCheckpoint() }
                let isLocked = try writer.begin(unless: { true })
                #expect(isLocked)
                let before = header()
                #expect(before?.counts == true)
                if own != .writesNothing { try writer.run("UPDATE worker SET since = since - 1") }
                let hooked = Locked(false)
                Hook.install { name in
                    let isFirst = hooked.withLock { hooked in
                        defer { hooked = true }
                        return name == "commit.made" && !hooked
                    }
                    guard isFirst else { return }
                    let frames = header()?.frames ?? 0
                    switch afterwards {
                    case .nothing: break
                    case .commit: try? commitByOther()
                    case .sameLength:
                        try? other.connection.passiveCheckpoint()
                        repeat { try? commitByOther() } while header()?.frames ?? 0 < frames
                        #expect(header()?.frames == frames)
                    }
                }
                let tag = try writer.commit(begunUnder: before)
                Hook.install(nil)
                #expect(hooked.withLock { $0 })
                #expect(header()?.counts == true)
                switch afterwards {
                case .nothing: #expect(tag == header())
                case .commit, .sameLength: #expect(tag == nil)
                }
            }
        }
    }
    #endif
}
