import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

/// One row that no program of this library can have written keeps nobody from the others.
@Suite(.timeLimit(.minutes(10))) struct UnreadableTests {
    /// What harms the row of one circuit, and how that one is shown then.
    static let harms = [
        ("UPDATE circuit SET epoch = -2 WHERE name = 'b open'", "b open"),
        ("UPDATE circuit SET state = 'clozed', open_until = NULL WHERE name = 'b open'", "b open"),
        ("UPDATE circuit SET hold = 'sideways', hold_since = 1 WHERE name = 'b open'", "b open"),
        ("UPDATE circuit SET name = CAST(x'62ff' AS TEXT) WHERE name = 'b open'", "b\u{FFFD}"),
    ]

    private func shop(_ harm: String, isClosed: Bool = true) throws -> Shop {
        let shop = try Shop()
        try shop.fillWithStates()
        if isClosed { shop.store.close() }
        try Shop.sqlite(shop.path, "PRAGMA ignore_check_constraints = ON; \(harm)")
        return shop
    }

    /// Nobody can ask for such a name: its row can be deleted, and nothing else.
    private func isNoText(_ name: String) -> Bool { name.unicodeScalars.contains("\u{FFFD}") }

    private func says(_ name: String) -> String {
        let says = "breaker-inspect: the row of circuit '\(name)' can't be read\nhint: "
        if self.isNoText(name) { return says + "'breaker-inspect forget \(name)' deletes the row\n" }
        return says
            + "the next call of its service or 'breaker-inspect reset \"\(name)\"' replaces it, without its hold; "
            + "'breaker-inspect forget \"\(name)\"' deletes it\n"
    }

    @Test(arguments: Self.harms)
    func showsTheOthers(harm: String, name: String) throws {
        let shop = try self.shop(harm)
        for line in [["list"], ["list", "*"], ["list", name, "a closed", "d*", "e*"]] {
            let (code, output, talk) = shop.inspect(arguments: line)
            #expect(code == .failed)
            #expect(output.split(separator: "\n").count == 4, "\(line)")
            #expect(talk == self.says(name))
        }
        let json = shop.inspect("list", "--json")
        #expect(json.code == .failed)
        #expect(json.output.hasSuffix(#"],"degraded":null,"unreadable":["\#(name)"],"version":1}"# + "\n"))
        #expect(json.output.matches(of: /"name":/).count == 3)
        let check = shop.inspect("check")
        #expect(check.code == .notClosed)
        #expect(
            check.output == "d held open  held-open by bob for 0 s, until 2026-01-01 02:00:00Z: moving\n"
                + "e held closed  held-closed by bob for 0 s\n")
        #expect(check.talk == self.says(name))
        #expect(shop.inspect("check", "[ab]*").code == .failed)
        #expect(shop.inspect("check", "[ab]*", "--json").output.contains(#""isClosed":false"#))
        #expect(shop.inspect("check", "a*").code == .done)
        for line in [["show", name], ["wait", name, "--for", "closed"], ["release", name]] {
            let (code, output, talk) = shop.inspect(arguments: line)
            #expect(code == .failed, "\(line)")
            #expect(output.isEmpty)
            #expect(talk == self.says(name), "\(line)")
        }
        #expect(shop.inspect("history", "b open").code == .done)
        let doctor = shop.inspect("doctor")
        #expect(doctor.code == .failed)
        #expect(doctor.output.contains("invalid rows, which no release of this library writes: \(name)\n"))
        #expect(doctor.output.contains("'breaker-inspect forget NAME' deletes it"))
    }

    @Test(arguments: Self.harms)
    func changesTheOthers(harm: String, name: String) throws {
        let shop = try self.shop(harm)
        let isNoText = self.isNoText(name)
        let dry = shop.inspect("hold", "open", "--all", "--dry-run")
        #expect(dry.code == (isNoText ? .failed : .done))
        #expect(dry.output.split(separator: "\n").count == (isNoText ? 3 : 4))
        #expect(dry.output.contains("unreadable -> held-open") != isNoText)
        let held = """
            d held open is held open by bob for 0 s, until 2026-01-01 02:00:00Z: moving
            e held closed is held closed by bob for 0 s

            """
        #expect(dry.talk == held + "dry run: nothing was changed\n" + (isNoText ? self.says(name) : ""))
        let console = RecordingConsole(answering: ["y"])
        let release = shop.inspect("release", "--all", "--json", on: console)
        #expect(release.code == .failed)
        #expect(
            release.output == #"{"changes":[{"from":"held-open","name":"d held open","to":"closed"},"#
                + #"{"from":"held-closed","name":"e held closed","to":"closed"}],"#
                + #""degraded":null,"dryRun":false,"unreadable":["\#(name)"],"version":1}"# + "\n")
        guard !isNoText else { return }
        let reset = shop.inspect("reset", "--all", "--yes")
        #expect(reset.code == .done)
        #expect(reset.output.split(separator: "\n").count == 3 && reset.talk.isEmpty, "\(reset)")
        #expect(shop.inspect("list").code == .done)
    }

    /// Who resets a circuit, or holds it, removes its row on the way, and is told that it is not there; its history
    /// tells why.
    @Test(arguments: Self.harms)
    func isRemovedByAnOperator(harm: String, name: String) throws {
        for line in [["reset"], ["hold", "open"]] {
            let shop = try self.shop(harm)
            let (code, output, talk) = shop.inspect(arguments: line + ["a closed", name, "--yes"])
            guard !self.isNoText(name) else {
                // All or none, where it was named.
                #expect(code == .failed)
                #expect(talk == self.says(name))
                #expect(shop.inspect("list", "a closed", "--state", "closed").output.contains("a closed"))
                continue
            }
            #expect(code == .noSuchCircuit && output.isEmpty, "\(output)")
            #expect(talk.hasPrefix("breaker-inspect: there is no circuit '\(name)'\n"), "\(talk)")
            #expect(shop.inspect("history", name).output.contains("its row could not be read and was removed"))
            #expect(shop.inspect("doctor").code == .done)
        }
    }

    @Test(arguments: Self.harms)
    func canBeForgotten(harm: String, name: String) throws {
        for operand in [name, "b*"] {
            let shop = try self.shop(harm)
            let console = RecordingConsole(answering: ["y"])
            let (code, output, talk) = shop.inspect("forget", operand, "--reason", "broken", on: console)
            #expect(code == .done)
            #expect(output == "\(name)  unreadable -> forgotten\n")
            #expect(talk == "This would forget 1 circuit:\n  \(name)  unreadable -> forgotten\nGo on? [y/N] ")
            let list = shop.inspect("list")
            #expect(list.code == .done)
            #expect(list.output.split(separator: "\n").count == 4)
            #expect(shop.inspect("doctor").code == .done)
        }
    }

    /// The doctor speaks of what was lost until an operator has said how the circuit is to be.
    @Test func theDoctorShowsACircuitThatWasRecreated() throws {
        let shop = try self.shop("UPDATE circuit SET epoch = -2 WHERE name = 'b open'", isClosed: false)
        let breaker = try shop.circuit("b open")
        breaker.recordFailure(Boom())
        let text = "could not be read and were replaced, without the holds that were there: b open\n"
        #expect(shop.inspect("doctor").output.contains(text))
        #expect(shop.inspect("doctor").code == .done)
        #expect(shop.inspect("hold", "open", "b open", "--yes").code == .done)
        #expect(!shop.inspect("doctor").output.contains("were replaced"))
    }

    @Test(arguments: ["UPDATE event SET reason = LONG WHERE id = 1", "UPDATE circuit SET last_error = LONG"])
    func aTextThatIsTooLongIsReportedByEachVerb(change: String) throws {
        let shop = try self.shop(change.replacing("LONG", with: "hex(zeroblob(1000000))"))
        let doctor = shop.inspect("doctor")
        #expect(doctor.code == .failed)
        #expect(doctor.output.contains("a row holds a text that is too long to be read\n"))
        #expect(doctor.output.contains("-> a service deletes such rows soon after it has opened the store"))
        let (code, _, talk) = shop.inspect(change.contains("event") ? "history" : "list")
        #expect(code == .failed)
        #expect(talk.contains("a row holds a text that is too long to be read\nhint: a service deletes such rows"))
    }

    /// What the hint promises.
    @Test func isWrittenAgainByItsService() throws {
        let shop = try self.shop("UPDATE circuit SET epoch = -2 WHERE name = 'b open'", isClosed: false)
        let breaker = try shop.circuit("b open")
        let refused = shop.inspect("forget", "b open", "--yes")
        #expect(refused.code == .failed)
        #expect(refused.talk.hasPrefix("breaker-inspect: cannot forget: a live worker has 'b open' registered\n"))
        #expect(shop.inspect("forget", "b open", "--yes", "--force").code == .done)
        breaker.recordFailure(Boom())
        _ = try breaker.run { 1 }
        #expect(shop.inspect("show", "b open").output.contains("1 of 2 within 60 s"))
        #expect(shop.inspect("list").code == .done)
    }

    @Test func isReportedWhileWatching() throws {
        let shop = try Shop()
        try shop.circuit("a")
        try shop.circuit("b")
        let harm = "UPDATE circuit SET epoch = -2 WHERE name = 'b'"
        for isTerminal in [false, true] {
            let console = RecordingConsole()
            console.inPauses = [
                {
                    try? Shop.sqlite(shop.path, harm)
                    return .isOver
                }, { .isOver },
            ]
            (console.outputIsTerminal, console.width, console.height) = (isTerminal, isTerminal ? 80 : nil, 24)
            let code = shop.inspect("list", "--watch", "--color=never", on: console).code
            #expect(code == .done)
            let text = "the row of circuit 'b' can't be read"
            if isTerminal {
                #expect(console.output.contains("\u{1B}[2;1H\(text)\u{1B}[K"))
            } else {
                #expect(console.talk == "breaker-inspect: \(text)\n")
                #expect(console.output.split(separator: "\n").count == 3)
                #expect(!console.output.contains("forgotten"))
            }
        }
    }
}
