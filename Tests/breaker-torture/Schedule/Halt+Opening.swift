import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Processes that are halted while they open, create or close.
extension Halt {
    /// Those who have the store open don't mind.
    static func opening(_ point: String) -> Halt {
        Halt(name: "at \(point)") { trio in
            try await trio.open(trio.other)
            let answer = try await trio.halt(at: point, asking: trio.opening)
            // More than the log takes without a checkpoint, which can't be made now.
            trio.requireHealthy(try await trio.fail(trio.other, "counting", 300))
            trio.requireHealthy(try await trio.fail(trio.other, "counting", 2, "async"))
            let opening = Task { try await trio.late.ask(trio.opening) }
            trio.halted.goOn()
            _ = try await answer.value
            _ = try await opening.value
            for process in [trio.halted, trio.late] {
                trio.requireHealthy(try await trio.fail(process, "counting", 1))
            }
            try await trio.requireSight(trio.other, "counting", state: "closed", failures: 304)
        }
    }

    static func creation(_ point: String) -> Halt {
        Halt(name: "at \(point)") { trio in
            let answer = try await trio.halt(at: point, asking: trio.opening)
            let openings = [trio.other, trio.late].map { process in
                Task { try await process.ask(trio.opening) }
            }
            // They must not take what is not finished for finished.
            try await Task.sleep(for: .milliseconds(20))
            trio.halted.goOn()
            _ = try await answer.value
            for opening in openings { _ = try await opening.value }
            for process in [trio.halted, trio.other, trio.late] {
                trio.requireHealthy(try await trio.fail(process, "counting", 1))
            }
            try await trio.requireSight(trio.halted, "counting", state: "closed", failures: 3)
        }
    }

    static let closing = Halt(name: "at close.unregistered") { trio in
        try await trio.open(trio.halted, trio.other)
        try await trio.fail(trio.halted, "counting", 1)
        let answer = try await trio.halt(at: "close.unregistered", asking: "close")
        trio.requireHealthy(try await trio.fail(trio.other, "counting", 2))
        try await trio.open(trio.late)
        trio.halted.goOn()
        _ = try await answer.value
        try await trio.requireSight(trio.late, "counting", state: "closed", failures: 3)
    }

    /// Somebody deletes all files meanwhile: all meet in the next one.
    static func openingWhatIsDeleted(_ point: String) -> Halt {
        Halt(name: "at \(point) of what is deleted meanwhile") { trio in
            try await trio.open(trio.other)
            try await trio.fail(trio.other, "counting", 3)
            let answer = try await trio.halt(at: point, asking: trio.opening)
            trio.clock.advance(by: .seconds(1))
            Self.deleteAll(trio)
            try await trio.fail(trio.other, "counting", 1)
            trio.halted.goOn()
            // It opened what is there now, or says that it could not.
            _ = await answer.result
            try await trio.wait("the store is healthy") { try await trio.other.ask("health")["health"] == "healthy" }
            try await trio.open(trio.halted)
            // The failure that no file could take was kept for the next one.
            try await trio.requireSight(trio.halted, "counting", state: "closed", failures: 1)
            trio.requireHealthy(try await trio.fail(trio.other, "counting", 1))
            try await trio.requireSight(trio.halted, "counting", state: "closed", failures: 2)
        }
    }

    /// Its commit goes to files that nobody else will find: it knows, and tells the next file, unless it learns of the
    /// loss only after it has that file.
    static func commitToWhatIsDeleted(_ point: String) -> Halt {
        Halt(name: "at \(point) to what is deleted meanwhile") { trio in
            try await trio.open(trio.halted, trio.other)
            let answer = try await trio.halt(at: point, asking: "fail counting 1")
            trio.clock.advance(by: .seconds(1))
            Self.deleteAll(trio)
            try await trio.fail(trio.other, "counting", 1)
            try await trio.wait("the store is healthy") { try await trio.other.ask("health")["health"] == "healthy" }
            trio.requireHealthy(try await trio.fail(trio.other, "counting", 2))
            trio.halted.goOn()
            if try await answer.value.number("ran") != 1 { trio.violated("the halted: \(try await answer.value)") }
            try await trio.settle()
            for process in [trio.halted, trio.other] {
                try await trio.requireSight(process, "counting", state: "closed", failures: 2...4)
            }
            trio.requireHealthy(try await trio.fail(trio.halted, "counting", 1))
            for process in [trio.halted, trio.other] {
                try await trio.requireSight(process, "counting", state: "closed", failures: 3...5)
            }
        }
    }

    /// Opening has a patience of its own, and says who is in the way.
    static let openingLosesPatience = Halt(name: "for longer than an opening waits") { trio in
        try await trio.begin("for longer than an opening waits")
        try await trio.open(trio.other)
        let answer = try await trio.halt(at: "open.guarded", asking: trio.opening)
        let start = ContinuousClock.now
        let refusal = try await trio.refusal(of: trio.late, trio.opening)
        if refusal != "busy" { trio.violated("an opening that waits in vain: \(refusal ?? "it opened")") }
        if ContinuousClock.now - start > .seconds(10) + Trio.patience { trio.violated("opening waited too long") }
        trio.halted.goOn()
        _ = try await answer.value
        try await trio.end()
    }

    private static func deleteAll(_ trio: Trio) {
        for outcome in ["", "-wal", "-shm", "-lock", "-board"] { unsafe unlink(trio.path + outcome) }
    }
}
