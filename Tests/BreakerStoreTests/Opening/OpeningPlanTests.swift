import Testing

@testable import BreakerStore

/// What an opening does next: each row has what lies there, the step, and the reason.
@Suite(.timeLimit(.minutes(10))) struct OpeningPlanTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let step: OpeningPlan.Step
        let plan: OpeningPlan

        init(
            _ why: String, _ step: OpeningPlan.Step, _ plan: OpeningPlan,
            _ change: (inout OpeningPlan) -> Void = { _ in }
        ) {
            var plan = plan
            change(&plan)
            (self.testDescription, self.step, self.plan) = (why, step, plan)
        }
    }

    @Test(arguments: newFiles + strangers + versions + olderVersions + tornFiles)
    func whatTheFilesAre(_ row: Row) { self.check(row) }

    @Test(arguments: names + accesses + guards) func whatMayBeUsed(_ row: Row) { self.check(row) }

    @Test(arguments: leftLogs + suspicions + openings) func whatIsDoneToAStore(_ row: Row) { self.check(row) }

    private func check(_ row: Row) {
        // A refusal in a row has the right code and a part of the message.
        guard case .refuse(let expected) = row.step else {
            #expect(row.plan.step == row.step)
            return
        }
        guard case .refuse(let error) = row.plan.step else {
            Issue.record("\(row.plan.step)")
            return
        }
        #expect(error.code == expected.code && error.message.contains(expected.message), "\(error)")
    }

    // MARK: - The rows

    static let file = StoreFile(at: "/nowhere/a.db")
    static let user: UInt32 = 1_000
    static let newest = Schema.version
    static let later = Schema.version + Schema.stepsOfAMajor

    static func refuse(_ code: BreakerStoreError.Code, _ message: String) -> OpeningPlan.Step {
        .refuse(BreakerStoreError(code: code, message: message))
    }

    /// A regular file of this user.
    static func found(
        _ inode: UInt64, size: Int64 = 4_096, _ change: (inout FoundFile) -> Void = { _ in }
    ) -> FoundFile? {
        guard var found = FoundFile("/") else { return nil }
        found.number = FoundFile.Number(device: 1, inode: inode)
        (found.kind, found.size, found.permissions, found.links) = (.regular, size, 0o600, 1)
        (found.owner, found.group) = (Self.user, Self.user)
        change(&found)
        return found
    }

    static func header(_ application: Int64, _ version: Int64, format: UInt8 = 2) -> OpeningFacts.Content {
        var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
        bytes[18] = format
        for (place, number) in [(60, version), (68, application)] {
            for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * Int64(byte))) }
        }
        return DatabaseHeader(bytes).map(OpeningFacts.Content.header) ?? .other
    }

    static let ours = header(Schema.applicationID, newest)
    static let held = OpeningPlan.HeldSetupLock(lock: .init(device: 1, inode: 5))

    /// Nothing lies there, and this process may write to the directory.
    static let nothing: OpeningPlan = {
        var facts = OpeningFacts(unexamined: file, user: user)
        facts.access = .granted
        return OpeningPlan(facts: facts)
    }()

    /// A lock file of a store that nobody has open, and whose byte 0 this process has.
    static func guarded(_ plan: OpeningPlan) -> OpeningPlan {
        var plan = plan
        plan.facts.lock = found(5, size: 25)
        plan.facts.lockContent = .whole(hasWorkers: false)
        plan.setupLock = held
        return plan
    }

    static func with(_ plan: OpeningPlan, _ change: (inout OpeningFacts) -> Void) -> OpeningPlan {
        var plan = plan
        change(&plan.facts)
        return plan
    }

    /// A database of these bytes, without anything beside it.
    static func database(_ content: OpeningFacts.Content?, size: Int64 = 4_096) -> OpeningPlan {
        with(nothing) {
            $0.database = found(1, size: size)
            $0.content = content
        }
    }

    /// A whole store that nobody has open.
    static let store = with(guarded(database(ours))) {
        $0.log = found(2)
        $0.index = found(3)
        $0.logVersions = []
    }
}
