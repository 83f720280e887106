import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

/// `reset` and `hold` ask before they end the hold of another operator; "ann" runs the tool.
@Suite struct OtherHoldsTests {
    private static let line = "mail is held open by bob for 3 d: INC-1: double charges, do not open\n"

    private func shop() throws -> Shop {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("mail")
        try shop.circuit("payments")
        try shop.store.hold("mail", .open, by: "bob", reason: "INC-1: double charges, do not open")
        clock.advance(by: .seconds(3 * 86_400 + 60))
        return shop
    }

    static let verbs: [(words: [String], question: String, done: String)] = [
        (["reset", "mail"], "A reset ends that hold. Go on? [y/N] ", "mail  held-open -> closed\n"),
        (
            ["hold", "closed", "mail"], "The new hold replaces that one. Go on? [y/N] ",
            "mail  held-open -> held-closed until released\n"
        ),
    ]

    @Test(arguments: Self.verbs, ["y", "n", nil])
    func areAskedAbout(_ verb: (words: [String], question: String, done: String), answer: String?) throws {
        let shop = try self.shop()
        let console = RecordingConsole(answering: answer.map { [$0] } ?? [])
        let (code, output, talk) = shop.inspect(arguments: verb.words, on: console)
        #expect(talk.hasPrefix(Self.line + verb.question), "\(talk)")
        #expect(code == (answer == "y" ? .done : .declined))
        #expect(output == (answer == "y" ? verb.done : ""))
        #expect(talk.hasSuffix("nothing was changed\n") == (answer != "y"))
        let hold = try #require(try shop.store.circuit(named: "mail")).hold
        #expect((hold?.by == "bob") == (answer != "y"))
    }

    @Test(arguments: Self.verbs)
    func needAYesWithoutATerminal(_ verb: (words: [String], question: String, done: String)) throws {
        let shop = try self.shop()
        let (code, output, talk) = shop.inspect(arguments: verb.words)
        #expect(code == .usage && output.isEmpty)
        let held = "mail is held open by bob for 3 d: INC-1: double charges, do not open; "
        #expect(talk.hasPrefix("breaker-inspect: \(held)"))
        #expect(talk.contains("needs confirmation, and there is no terminal to ask on\nhint: give --yes"), "\(talk)")
        #expect(try shop.store.circuit(named: "mail")?.hold?.by == "bob")
        let dry = shop.inspect(arguments: verb.words + ["--dry-run"])
        #expect(dry.code == .done && dry.talk == Self.line + "dry run: nothing was changed\n", "\(dry)")
        let done = shop.inspect(arguments: verb.words + ["--yes"])
        #expect(done.code == .done && done.output == verb.done && done.talk.isEmpty, "\(done)")
    }

    /// The event says whose hold it was, in the file, in JSON and for people.
    @Test(arguments: Self.verbs)
    func areNamedInTheHistory(_ verb: (words: [String], question: String, done: String)) throws {
        let shop = try self.shop()
        #expect(shop.inspect(arguments: verb.words + ["--yes", "--reason", "fixed"]).code == .done)
        let event = try #require(try shop.store.history(of: "mail", limit: 1).first)
        #expect(event.by == "ann" && event.subject == "bob" && event.reason == "fixed")
        let json = shop.inspect("history", "mail", "--json").output
        #expect(json.contains(#""reason":"fixed","refused":0,"subject":"bob""#))
        let word = verb.words[0] == "reset" ? "ended" : "replaced"
        #expect(shop.inspect("history", "mail").output.contains("ann  fixed; \(word) bob's hold\n"))
    }

    @Test func onesOwnAreNotAskedAbout() throws {
        let shop = try self.shop()
        try shop.store.hold("payments", .open, by: "ann")
        let (code, _, talk) = shop.inspect("reset", "payments")
        #expect(code == .done && talk.isEmpty)
        #expect(try shop.store.history(of: "payments", limit: 1).first?.subject == "ann")
        #expect(shop.inspect("reset", "mail", "--as", "bob").code == .done)
        // The same person, at another host: as a link writes it.
        try shop.store.hold("mail", .open, by: "bob")
        try LockHolder(shop.path, ["UPDATE circuit SET hold_by = 'fleet: ann' WHERE name = 'mail'"]).end()
        #expect(shop.inspect("hold", "open", "mail").code == .done)
        // Nobody knows whose it is.
        try shop.store.hold("mail", .open)
        #expect(shop.inspect("reset", "mail").talk.contains("mail is held open by an unknown operator for 0 s; "))
    }

    /// `release` is meant for just that.
    @Test func areReleasedUnasked() throws {
        let shop = try self.shop()
        #expect(shop.inspect("release", "mail").code == .done)
    }

    /// A hold that is over is nobody's any longer.
    @Test func areNotAskedAboutOnceTheyAreOver() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("mail")
        try shop.store.hold("mail", .open, for: .seconds(1), by: "bob")
        clock.advance(by: .seconds(2))
        #expect(shop.inspect("reset", "mail").code == .done)
        #expect(try shop.store.history(of: "mail", limit: 1).first?.subject == nil)
    }

    @Test func ofAPatternStandBelowThePreview() throws {
        let shop = try self.shop()
        try shop.store.hold("payments", .closed, by: "carl")
        let console = RecordingConsole(answering: ["n"])
        let talk = shop.inspect("reset", "--all", on: console).talk
        #expect(
            talk == """
                This would reset 2 circuits:
                  mail      held-open -> closed
                  payments  held-closed -> closed
                \(Self.line)payments is held closed by carl for 0 s
                A reset ends these holds. Go on with 2 circuits? [y/N] nothing was changed

                """, "\(talk)")
    }

    /// Another operator holds a circuit while this one thinks about the question, which was about other holds.
    @Test func thatNobodyWasAskedAboutStay() throws {
        let shop = try self.shop()
        let console = RecordingConsole(answering: ["y"])
        console.whileAsked = { try? shop.store.hold("payments", .open, by: "carl", reason: "INC-2") }
        let (code, output, talk) = shop.inspect("reset", "--all", on: console)
        #expect(code == .failed && output.isEmpty)
        #expect(
            talk.contains("cannot reset: another operator holds circuit 'payments' open\nhint: run it again"), "\(talk)"
        )
        #expect(try shop.store.circuit(named: "payments")?.hold?.by == "carl")
        // All or nothing.
        #expect(try shop.store.circuit(named: "mail")?.hold?.by == "bob")
        // What was asked about may end, though it is not the same hold any longer.
        let again = RecordingConsole(answering: ["y"])
        again.whileAsked = { try? shop.store.hold("payments", .closed, by: "carl", reason: "INC-3") }
        #expect(shop.inspect("reset", "--all", on: again).code == .done)
    }
}
