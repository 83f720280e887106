import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that is halted somewhere, what the others do meanwhile, and what must be when it goes on.
struct Halt: Sendable {
    let name: String
    let play: @Sendable (Trio) async throws -> Void

    static let all: [Halt] =
        ["", "async"].map(Self.inTransaction)
        + [Self.reportAfterReset, Self.claim]
        + ["succeed", "failed"].map(Self.prober)
        + ["checkpoint.locked", "checkpoint.done"].map(Self.checkpointer)
        + ["lock.created", "open.guarded", "open.connected", "open.logged", "open.registered"].map(Self.opening)
        + [
            "creation.file", "migration.begin", "migration.step", "migration.commit", "migration.done",
            "creation.filled", "creation.freed",
        ].map(Self.creation)
        + [Self.closing]
        + ["open.guarded", "open.connected", "open.logged", "open.registered"].map(Self.openingWhatIsDeleted)
        + ["commit.begin", "commit.done"].map(Self.commitToWhatIsDeleted)

    // MARK: - Calls

    /// It holds the write lock all the time, so that its commit is lawful.
    private static func inTransaction(_ how: String) -> Halt {
        Halt(name: "in a transaction \(how)") { trio in
            try await trio.open(trio.halted, trio.other)
            let answer = try await trio.halt(at: "commit.begin", asking: "fail counting 1 \(how)")
            // Guarded in memory.
            for how in ["", "async"] { try await trio.fail(trio.other, "counting", 2, how) }
            try await trio.fail(trio.other, "tripping", 2)
            let refused = try await trio.other.ask("fail tripping 1")
            if refused.number("refused") != 1 { trio.violated("memory lets a call through: \(refused)") }
            // An operator hears of it.
            if try await trio.refusal(of: trio.other, "reset counting") == nil {
                trio.violated("a reset under another's lock")
            }
            let opening = Task { try await trio.late.ask(trio.opening) }
            trio.halted.goOn()
            if try await answer.value.number("ran") != 1 { trio.violated("the halted call: \(try await answer.value)") }
            _ = try await opening.value
            try await trio.settle()
            for process in [trio.halted, trio.other, trio.late] {
                try await trio.requireSight(process, "counting", state: "closed", failures: 5)
                try await trio.requireSight(process, "tripping", state: "open", failures: 2)
            }
        }
    }

    private static let reportAfterReset = Halt(name: "before a report, and a reset meanwhile") { trio in
        try await trio.open(trio.halted, trio.other)
        trio.requireInTime(try await trio.halted.ask("admit counting ; took"))
        try await trio.haltIdle()
        trio.clock.advance(by: .seconds(1))
        try await trio.other.ask("reset counting")
        trio.halted.goOn()
        try await trio.halted.ask("failed")
        trio.requireHealthy(try await trio.fail(trio.halted, "counting", 1))
        try await trio.requireSight(trio.other, "counting", state: "closed", failures: 1)
    }

    // MARK: - Probes

    private static func becomeDue(_ trio: Trio) async throws {
        try await trio.open(trio.halted, trio.other)
        try await trio.fail(trio.other, "tripping", 2)
        trio.clock.advance(by: .seconds(31))
    }

    /// The slot is given out when the lease is over, and the verdict of the halted one changes nothing.
    private static func prober(_ verdict: String) -> Halt {
        Halt(name: "with a probe that ends by '\(verdict)'") { trio in
            try await Self.becomeDue(trio)
            trio.requireInTime(try await trio.halted.ask("admit tripping ; took"))
            try await trio.haltIdle()
            let refused = try await trio.other.ask("admit tripping ; took")
            trio.requireInTime(refused)
            if refused["cause"] != "probing" { trio.violated("while it probes: \(refused)") }
            trio.clock.advance(by: .seconds(31))
            let admitted = try await trio.other.ask("admit tripping ; took")
            trio.requireInTime(admitted)
            if admitted.number("ran") != 1 { trio.violated("after the lease: \(admitted)") }
            // The other way round.
            try await trio.other.ask(verdict == "succeed" ? "failed" : "succeed")
            trio.halted.goOn()
            try await trio.halted.ask(verdict)
            try await trio.fail(trio.halted, "counting", 1)
            for process in [trio.halted, trio.other] {
                let isOpen = verdict == "succeed"
                try await trio.requireSight(
                    process, "tripping", state: isOpen ? "open" : "closed", failures: isOpen ? 2 : 0
                )
            }
        }
    }

    private static let claim = Halt(name: "while it claims a probe") { trio in
        try await Self.becomeDue(trio)
        let answer = try await trio.halt(at: "commit.begin", asking: "admit tripping")
        // The file says that a probe is due, and can't be told who makes it.
        trio.requireInTime(try await trio.other.ask("fail tripping 1 ; took"))
        trio.halted.goOn()
        if try await answer.value.number("ran") != 1 { trio.violated("its claim: \(try await answer.value)") }
        try await trio.settle()
        let refused = try await trio.other.ask("admit tripping ; took")
        if refused["cause"] != "probing" { trio.violated("while it probes: \(refused)") }
        try await trio.halted.ask("succeed")
        try await trio.requireSight(trio.other, "tripping", state: "closed", failures: 0)
    }

    private static func checkpointer(_ point: String) -> Halt {
        Halt(name: "at \(point)") { trio in
            try await trio.open(trio.halted, trio.other)
            let answer = try await trio.halt(at: point, asking: "fail counting 400")
            try await trio.fail(trio.other, "counting", 2)
            try await trio.fail(trio.other, "counting", 2, "async")
            let opening = Task { try await trio.late.ask(trio.opening) }
            trio.halted.goOn()
            if try await answer.value.number("ran") != 400 { trio.violated("the halted: \(try await answer.value)") }
            _ = try await opening.value
            try await trio.settle()
            try await trio.requireSight(trio.late, "counting", state: "closed", failures: 404)
        }
    }
}
