import BreakerStore
import BreakerStoreJSON
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite struct TimesTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_767_225_600, "2026-01-01T00:00:00.000Z"),
        (951_782_400.5, "2000-02-29T00:00:00.500Z"), (951_868_799.9994, "2000-02-29T23:59:59.999Z"),
        (4_107_542_399, "2100-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        (-0.001, "1969-12-31T23:59:59.999Z"), (1e300, "9999-12-31T23:59:59.999Z"), (-1e300, "0000-01-01T00:00:00.000Z"),
    ])
    func areWrittenByRFC3339(seconds: Double, text: String) {
        #expect(Date(timeIntervalSince1970: seconds).rfc3339 == text)
    }

    @Test func agreeWithFoundation() {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions.insert(.withFractionalSeconds)
        for day in stride(from: 0, to: 200_000, by: 997) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 1.25)
            #expect(date.rfc3339 == formatter.string(from: date))
        }
    }
}

@Suite struct JSONValueTests {
    @Test func sortsKeysAndEscapes() throws {
        let text = JSONValue.document([
            "b": .array([.null, .bool(true), .integer(-1), .number(1.5), .number(.infinity)]),
            "a": .string("\"\\\n\t\u{0}\u{1B}\u{7F}\u{85}\u{2028}é"),
        ])
        #expect(
            text == #"{"a":"\"\\\n\t\u0000\u001b\u007f\u0085\u2028é","b":[null,true,-1,1.5,null],"version":1}"# + "\n")
        #expect(
            JSONValue.document(["a": .string("\u{202E}\u{200D}\u{FEFF}\u{E0001}é")])
                == #"{"a":"\u202e\u200d\ufeff\udb40\udc01é","version":1}"# + "\n")
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(parsed["a"] as? String == "\"\\\n\t\u{0}\u{1B}\u{7F}\u{85}\u{2028}é")
    }
}

@Suite struct TableTests {
    @Test(arguments: [("abc", 3), ("東京", 4), ("e\u{301}", 1), ("👍", 2), ("❤️", 2), ("\u{301}", 0), ("ｱ", 1), ("", 0)])
    func knowsHowWideTextIs(text: String, width: Int) { #expect(text.displayWidth == width) }

    @Test func cutsBetweenCharacters() {
        #expect("abcdef".cut(to: 6) == "abcdef")
        #expect("abcdef".cut(to: 5) == "abcd…")
        #expect("東京都".cut(to: 4) == "東…")
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…ef"), ("abcdef", 4, "ab…f"), ("東京都庁", 5, "東…庁"), ("東京都", 4, "東…"),
        ("abc", 1, "…"), ("e\u{301}bcd", 3, "e\u{301}…d"),
    ])
    func cutsNamesInTheMiddle(text: String, width: Int, cut: String) { #expect(text.cutInside(to: width) == cut) }

    @Test(arguments: [
        (-2_000, "0 s", "0 s"), (0, "0 s", "0 s"), (1, "0 s", "1 s"), (42_700, "42 s", "43 s"),
        (119_999, "119 s", "120 s"),
        (120_000, "2 min", "2 min"), (7_199_000, "119 min", "120 min"), (7_200_000, "2 h", "2 h"),
        (172_800_000, "2 d", "2 d"),
    ])
    func showsDurationsInWholeUnits(milliseconds: Int64, down: String, up: String) {
        #expect(Duration.milliseconds(milliseconds).brief() == down)
        #expect(Duration.milliseconds(milliseconds).brief(roundsUp: true) == up)
    }

    @Test func alignsAndCutsOnlyWhatMayBe() {
        var table = Table(columns: [
            .init(title: "NAME", minimumWidth: 4), .init(title: "N", isRightAligned: true),
            .init(title: "ERROR", minimumWidth: 6),
        ])
        table.append([.init(text: "abcdef"), .init(text: "9"), .init(text: "")], rank: 1)
        table.append([.init(text: "東京"), .init(text: "10"), .init(text: "a long text")])
        let plain = Style(isColored: false)
        #expect(table.text(width: nil, plain) == "NAME     N  ERROR\n東京    10  a long text\nabcdef   9\n")
        #expect(table.text(width: 18, plain) == "NAME     N  ERROR\n東京    10  a lon…\nabcdef   9\n")
        #expect(table.text(width: 3, plain) == "NAME   N  ERROR\n東京  10  a lon…\nabc…   9\n")
    }

    @Test func cutsTheWidestFirst() {
        var table = Table(columns: [.init(title: "NAME", minimumWidth: 4), .init(title: "ERROR", minimumWidth: 4)])
        table.append([.init(text: "abcdefgh"), .init(text: "abcdefghijklmnop")])
        let plain = Style(isColored: false)
        #expect(table.text(width: 20, plain) == "NAME      ERROR\nabcdefgh  abcdefghi…\n")
        #expect(table.text(width: 14, plain) == "NAME    ERROR\nabcde…  abcde…\n")
    }

    @Test func cutsNoName() {
        var table = Table(columns: [
            .init(title: "NAME", isName: true), .init(title: "N", isRightAligned: true),
            .init(title: "ERROR", minimumWidth: 5, presence: .whereItFits),
        ])
        table.append([.init(text: "abcdefgh"), .init(text: "10"), .init(text: "a long text")])
        table.append([.init(text: "ab"), .init(text: "9"), .init(text: "x")])
        let plain = Style(isColored: false)
        #expect(table.text(width: 19, plain) == "NAME       N  ERROR\nabcdefgh  10  a lo…\nab         9  x\n")
        #expect(table.text(width: 18, plain) == "NAME       N\nabcdefgh  10\nab         9\n")
        #expect(table.text(width: 11, plain) == "NAME   N\nabcdefgh\n      10\nab     9\n")
        var text = ""
        table.forEachLine(width: 7, onScreen: true, plain) { text += $0 }
        #expect(text == "NAME   N\nabc…fgh\n      10\nab     9\n")
    }

    @Test func writesBelowWhatHasNoRoomBeside() {
        var table = Table(columns: [
            .init(title: "TIME"), .init(title: "REASON", minimumWidth: 6, mayStandBelow: true),
        ])
        table.append([.init(text: "2026-01-01 00:00:00Z"), .init(text: "all of a long reason, and all of it")])
        table.append([.init(text: "2026-01-01 00:00:01Z"), .init(text: "")])
        let plain = Style(isColored: false)
        #expect(
            table.text(width: 30, plain) == """
                TIME
                2026-01-01 00:00:00Z
                    all of a long reason, and
                    all of it
                2026-01-01 00:00:01Z

                """)
        let wide = "2026-01-01 00:00:00Z  all of a long reason, and all of it\n"
        #expect(table.text(width: 57, plain).contains(wide))
        #expect(table.text(width: nil, plain).contains(wide))
    }

    @Test func colorCarriesNoMeaningAlone() {
        var table = Table(columns: [.init(title: "A"), .init(title: "B")])
        table.append([.init(text: "x", look: .bad), .init(text: "y")])
        let colored = table.text(width: nil, Style(isColored: true))
        #expect(colored == "\u{1B}[1mA\u{1B}[0m  \u{1B}[1mB\u{1B}[0m\n\u{1B}[1;31mx\u{1B}[0m  y\n")
    }

    static let colors: [(choice: ColorChoice, onTerminal: Bool, environment: Environment, isOn: Bool)] = [
        (.auto, true, [:], true), (.auto, false, [:], false), (.auto, true, ["NO_COLOR": "1"], false),
        (.auto, true, ["NO_COLOR": ""], true), (.auto, true, ["TERM": "dumb"], false),
        (.always, false, ["NO_COLOR": "1"], true), (.never, true, [:], false),
    ]

    @Test(arguments: Self.colors)
    func coloursWhereItIsWanted(choice: ColorChoice, onTerminal: Bool, environment: Environment, isOn: Bool) {
        #expect(choice.isOn(onTerminal: onTerminal, environment: environment) == isOn)
    }
}

@Suite struct EscapeTests {
    /// Of each character that could deceive, what stands for it is seen, in each verb that shows names and errors.
    @Test(arguments: [
        ("\u{1B}[2J", "\\u{1B}[2J"), ("\u{202E}evil", "\\u{202E}evil"), ("a\u{200B}b", "a\\u{200B}b"),
        ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"), ("\u{FEFF}", "\\u{FEFF}"), ("\u{E0041}", "\\u{E0041}"),
        ("\u{AD}", "\\u{AD}"),
        ("é東京👍", "é東京👍"),
    ])
    func isSpelledOut(text: String, seen: String) throws {
        #expect(text.escaped == seen)
        let shop = try Shop()
        // Names may hold format characters, but no controls.
        let name = text.contains("\u{1B}") ? "a" : "a \(text)"
        try shop.circuit(name, failures: 2, error: text)
        try shop.store.hold(name, .open, by: text, reason: text)
        let lines = [
            ["list"], ["show", name], ["check"], ["history"], ["list", "--json"], ["show", name, "--json"],
            ["history", "--json"], ["workers", "--json"], ["hold", "closed", name, "--dry-run"], ["show", text],
            ["list", "--state", text],
        ]
        for line in lines {
            let (_, output, talk) = shop.inspect(arguments: line)
            let shown = (output + talk).unicodeScalars
            #expect(!shown.contains { $0.isDeceptive && $0 != "\n" }, "\(line)")
            if line == ["list"] { #expect(output.contains(seen)) }
        }
    }
}
