import Testing

@testable import BreakerStore

/// What holds for an opening whatever lies there: all combinations of some values of each fact.
@Suite(.timeLimit(.minutes(10))) struct OpeningPlanRangeTests {
    private static let files: [FoundFile?] = [
        nil, OpeningPlanTests.found(1, size: 0), OpeningPlanTests.found(2, size: 1), OpeningPlanTests.found(3),
    ]
    private static let contents: [OpeningFacts.Content] = [
        OpeningPlanTests.header(Schema.applicationID, Schema.version),
        OpeningPlanTests.header(Schema.applicationID, Schema.version + Schema.stepsOfAMajor),
        OpeningPlanTests.header(0, 0), OpeningPlanTests.header(1, 0), .zeros, .other, older,
    ]
    private static let older = OpeningPlanTests.header(Schema.applicationID, 1_000)

    /// Each look answers in one way; true and false in turn, as the number says.
    private struct Answers {
        var content: OpeningFacts.Content
        var lock: LockFile.Content
        var bits: Int

        private func bit(_ place: Int) -> Bool { self.bits >> place & 1 == 1 }

        func answer(_ look: OpeningFacts.Fact, _ facts: inout OpeningFacts) {
            switch look {
            case .content: facts.content = self.content
            case .lock: facts.lockContent = self.lock
            case .journal: facts.startsFromNothing = self.bit(0)
            case .logVersions: facts.logVersions = self.bit(0) ? [Schema.version] : [Schema.version + 1_000]
            case .version:
                let other = self.content == OpeningPlanRangeTests.older ? 1_000 : Schema.version + 1_000
                facts.version = self.bit(1) ? Schema.version : other
            case .tables: facts.isEmpty = self.bit(0)
            case .wholeByLog: facts.byLog = self.bit(1) ? .store(version: Schema.version) : .noStore
            case .access:
                facts.access =
                    self.bit(2) ? .granted : .refused(BreakerStoreError(code: .permissionDenied, message: ""))
            case .damage: facts.isBroken = self.bit(0)
            }
        }
    }

    @Test(arguments: contents.indices, [LockFile.Content.other, .whole(hasWorkers: false), .whole(hasWorkers: true)])
    func holds(_ content: Int, _ lock: LockFile.Content) throws {
        var plans = 0
        for database in Self.files {
            for log in Self.files {
                for index in Self.files where index?.size != 1 {
                    for journal in Self.files where journal?.size != 1 {
                        for choices in 0..<128 {
                            var plan = Self.plan(choices, hasLock: lock != .other)
                            (plan.facts.database, plan.facts.log) = (database, log)
                            (plan.facts.index, plan.facts.journal) = (index, journal)
                            let content = Self.contents[content]
                            try self.check(&plan, Answers(content: content, lock: lock, bits: choices >> 4))
                            plans += 1
                        }
                    }
                }
            }
        }
        #expect(plans == 4 * 4 * 3 * 3 * 128)
    }

    private static func plan(_ choices: Int, hasLock: Bool) -> OpeningPlan {
        var plan = OpeningPlanTests.nothing
        if choices & 1 != 0 { plan = OpeningPlanTests.guarded(plan) }
        if hasLock { plan.facts.lock = OpeningPlanTests.found(5, size: 25) }
        plan.facts.lockContent = nil
        plan.facts.access = nil
        plan.mayCreate = choices & 2 == 0
        plan.isSuspect = choices & 4 != 0
        plan.mayMigrate = choices & 8 == 0
        return plan
    }

    private func check(_ plan: inout OpeningPlan, _ answers: Answers) throws {
        var looks: [OpeningFacts.Fact] = []
        while case .examine(let look) = plan.step {
            // Nothing is looked at twice: the opening ends.
            try #require(!looks.contains(look), "\(look) again: \(plan)")
            looks.append(look)
            answers.answer(look, &plan.facts)
        }
        let isStranger = plan.facts.hasDatabase && plan.facts.content != nil && answers.content == Self.contents[3]
        let isKept =
            !plan.mayMigrate && plan.facts.hasDatabase && plan.facts.content == Self.older
            && plan.facts.version != Schema.version
        switch plan.step {
        case .examine, .refuse, .startOver: break
        case .acquireSetupLock(let mayMake):
            try #require(!mayMake || !isKept, "a lock file beside an older store: \(plan)")
            try #require(plan.setupLock == nil, "the setup lock is acquired twice: \(plan)")
            try #require(mayMake ? plan.facts.access == .granted : answers.lock != .other, "\(plan)")
            try #require(!isStranger || !mayMake, "a lock file beside a stranger's file: \(plan)")
        case .open(let checksWholeFile):
            try #require(plan.setupLock != nil && plan.facts.access == .granted, "\(plan)")
            try #require(!isKept, "an older store is migrated: \(plan)")
            try #require(!checksWholeFile || plan.mayCreate, "\(plan)")
            try #require(
                !isStranger || plan.facts.byLog == .store(version: Schema.version), "a stranger's file: \(plan)")
        case .create: try #require(plan.setupLock != nil && plan.mayCreate && plan.facts.database == nil, "\(plan)")
        case .moveStraysAside: try #require(plan.setupLock != nil && !plan.facts.hasDatabase, "\(plan)")
        case .deleteIndex:
            try #require(plan.setupLock != nil && plan.facts.log == nil, "\(plan)")
            try #require(!isKept, "the index of an older store: \(plan)")
        case .quarantine:
            try #require(plan.setupLock != nil && plan.mayCreate && plan.isSuspect, "\(plan)")
            try #require(!isStranger, "a stranger's file: \(plan)")
        }
    }
}
