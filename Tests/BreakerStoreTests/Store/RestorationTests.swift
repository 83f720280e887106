import Testing

@testable import BreakerStore

/// Each pair of what a worker knows of a lost file and what the file in its place has.
@Suite struct RestorationTests {
    // MARK: - The file

    struct FileCase: Sendable {
        let what: String
        let file: Restoration.NewFile
        var lacksOnlyLog = false
        var uptime: Uptime = 100
        let becomes: Restoration.OfFile
    }

    private static let lastInPlace: Uptime = 90

    private static func file(
        _ incarnation: Int64 = 2, at createdAt: Uptime? = 95, here: Bool = true, replaced: Int64? = nil
    ) -> Restoration.NewFile {
        Restoration.NewFile(
            incarnation: incarnation, createdAt: createdAt, isAtItsPlace: here, replaced: replaced)
    }

    static let files = [
        FileCase(what: "created since by a process that knew of nothing", file: file(), becomes: .restore),
        FileCase(what: "created since in place of the lost one", file: file(replaced: 1), becomes: .restore),
        FileCase(
            what: "created since in place of one that had its place in between", file: file(replaced: 3),
            becomes: .restore),
        FileCase(what: "created at the very moment of the last look", file: file(at: 90), becomes: .restore),
        FileCase(
            what: "created in place of it under another name of the directory", file: file(here: false, replaced: 1),
            becomes: .restore),
        FileCase(
            what: "a minute old", file: file(), uptime: Uptime(microseconds: 95 + Restoration.time), becomes: .restore),
        FileCase(
            what: "older than a minute", file: file(), uptime: Uptime(microseconds: 96 + Restoration.time),
            becomes: .report),
        FileCase(
            what: "older than a minute, in place of the lost one", file: file(replaced: 1),
            uptime: Uptime(microseconds: 96 + Restoration.time), becomes: .report),
        FileCase(what: "a store that was there before", file: file(at: 89), becomes: .leave),
        FileCase(
            what: "a store that was there before, and had once replaced the lost one", file: file(at: 89, replaced: 1),
            becomes: .leave),
        FileCase(what: "a new store of another path", file: file(here: false), becomes: .leave),
        FileCase(
            what: "a new store of another path, in place of another one", file: file(here: false, replaced: 3),
            becomes: .leave),
        FileCase(what: "created by an older release", file: file(at: nil), becomes: .leave),
        FileCase(what: "created in the future", file: file(at: 101), becomes: .leave),
        FileCase(what: "the same one, or a backup of it", file: file(1), becomes: .leave),
        FileCase(what: "the same one without its log", file: file(1, at: 10), lacksOnlyLog: true, becomes: .resume),
        FileCase(
            what: "made in the same database, which was empty without its log", file: file(), lacksOnlyLog: true,
            becomes: .restore),
    ]

    @Test(arguments: Self.files) func decidesByTheFile(_ one: FileCase) {
        let decision = Restoration.decide(
            incarnation: 1, lastInPlace: Self.lastInPlace, lacksOnlyLog: one.lacksOnlyLog, one.file, at: one.uptime)
        #expect(decision == one.becomes, "\(one.what)")
    }

    // MARK: - A circuit

    private static let knows: [(what: String, known: Restoration.Known)] = [
        ("nothing but that it was closed", .init(incarnation: 1, seenAt: 90, epoch: 20)),
        ("a hold", .init(incarnation: 1, seenAt: 90, epoch: 20, isHeld: true)),
        ("an open state", .init(incarnation: 1, seenAt: 90, epoch: 20, isOpen: true)),
        ("both", .init(incarnation: 1, seenAt: 90, epoch: 20, isHeld: true, isOpen: true)),
    ]

    private static func noted(
        _ epoch: Epoch, restored: Bool = false, of incarnation: Int64 = 1, seenAt: Uptime = 90, here: Epoch = 500
    ) -> Restoration.Noted {
        .init(incarnation: incarnation, seenAt: seenAt, epoch: epoch, epochHere: here, isOpenRestored: restored)
    }

    /// A worker that could no longer read the lost file knows that the circuit was open, but not whether it still is.
    @Test func anOpenStateThatMayBeOverClosesNothing() {
        let known = Restoration.Known(incarnation: 1, seenAt: 90, epoch: 20, wasOpen: true)
        let restored = Restoration.Here(epoch: 500, isNew: false, noted: Self.noted(19, restored: true))
        #expect(Restoration.decide(known, in: restored) == .restoreHold)
        #expect(Restoration.decide(known, in: .init(epoch: 500, isNew: true)) == .note)
    }

    /// What the file has, and the decisions for each of `knows`.
    static let rows: [(what: String, here: Restoration.Here, decisions: [Restoration.OfCircuit])] = [
        ("a new circuit", .init(epoch: 500, isNew: true), [.note, .restore, .restore, .restore]),
        (
            "one that calls have changed since its creation", .init(epoch: 500, isNew: false),
            [.note, .restoreHold, .note, .restoreHold]
        ),
        (
            "one on which a command was given", .init(epoch: 500, isNew: true, isCommanded: true),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "an earlier epoch's nothing", .init(epoch: 500, isNew: true, noted: noted(19)),
            [.note, .restore, .restore, .restore]
        ),
        (
            "an earlier epoch's hold", .init(epoch: 500, isNew: false, noted: noted(19, restored: true)),
            [.restore, .restore, .restore, .restore]
        ),
        (
            "the same epoch's nothing", .init(epoch: 500, isNew: true, noted: noted(20)),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "the same epoch's hold", .init(epoch: 500, isNew: false, noted: noted(20, restored: true)),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "a later epoch's nothing", .init(epoch: 500, isNew: true, noted: noted(21)),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "a later epoch's hold", .init(epoch: 500, isNew: false, noted: noted(21, restored: true)),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "an earlier epoch's open state that calls have changed since",
            .init(epoch: 501, isNew: false, noted: noted(19, restored: true)),
            [.note, .restoreHold, .note, .restoreHold]
        ),
        (
            "an earlier epoch's nothing that calls have changed since",
            .init(epoch: 501, isNew: false, noted: noted(19)),
            [.note, .restoreHold, .note, .restoreHold]
        ),
        (
            "an earlier epoch's nothing, and a command since",
            .init(epoch: 500, isNew: true, isCommanded: true, noted: noted(19)), [.leave, .leave, .leave, .leave]
        ),
        (
            "what a later lost file said",
            .init(epoch: 500, isNew: false, noted: noted(1, restored: true, of: 3, seenAt: 91)),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "a later lost file's nothing", .init(epoch: 500, isNew: true, noted: noted(1, of: 3, seenAt: 90)),
            [.leave, .leave, .leave, .leave]
        ),
        (
            "what an earlier lost file said",
            .init(epoch: 500, isNew: false, noted: noted(99, restored: true, of: 3, seenAt: 89)),
            [.restore, .restore, .restore, .restore]
        ),
        (
            "an earlier lost file's nothing", .init(epoch: 500, isNew: true, noted: noted(99, of: 3, seenAt: 89)),
            [.note, .restore, .restore, .restore]
        ),
    ]

    @Test(arguments: Self.rows.indices, Self.knows.indices) func decidesByTheCircuit(row: Int, column: Int) {
        let (what, here, decisions) = Self.rows[row]
        let (knows, known) = Self.knows[column]
        #expect(Restoration.decide(known, in: here) == decisions[column], "knows \(knows), the file has \(what)")
    }

    /// In the same file without its log, the later epoch is the later state.
    @Test(arguments: [
        (epoch: Epoch(19), commanded: false, decision: Restoration.OfCircuit.restore), (20, false, .leave),
        (21, false, .leave), (19, true, .leave),
    ])
    func decidesByEpochsInTheSameFile(epoch: Epoch, commanded: Bool, decision: Restoration.OfCircuit) {
        for (what, known) in Self.knows {
            let here = Restoration.Here(epoch: epoch, isNew: epoch == 19, isCommanded: commanded)
            #expect(Restoration.decideResumed(known, in: here) == decision, "\(what)")
        }
    }

    /// Only the log had the circuit; whoever came first has registered it anew.
    @Test func whatIsRecreatedInTheSameFileIsNoLaterState() {
        let here = Restoration.Here(epoch: 500, isNew: true)
        let decisions = Self.knows.map { Restoration.decideResumed($0.1, in: here) }
        #expect(decisions == Self.knows.map { $0.1.isHeld || $0.1.isOpen ? .restore : .leave })
        #expect(decisions.contains(.restore))
    }
}
