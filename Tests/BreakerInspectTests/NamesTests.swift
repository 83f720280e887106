import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What is shown of names can be given back to every verb.
@Suite(.timeLimit(.minutes(10))) struct NamesTests {
    /// Three names alike that differ in their middle, as long as that.
    private func alike(_ length: Int) -> [String] {
        (1...3).map { "tenant-00" + String(repeating: "0", count: length - 18) + "\($0)/webhook" }
    }

    private func shop(_ names: [String]) throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        for name in names { try shop.circuit(name, failures: 2, error: String(repeating: "long ", count: 50)) }
        return shop
    }

    /// Beside the other columns, beside some of them, on a line of its own, and wider than the terminal.
    @Test(arguments: [30, 45, 70, 100]) func areShownWhole(length: Int) throws {
        let names = self.alike(length)
        let shop = try self.shop(names)
        for line in ["list", "history"] {
            let shown = try Child.terminal("\"$0\" \(line) --color never", store: shop.path, columns: 80).output
            let words = shown.split { $0.isWhitespace }.map { String($0) }.filter { $0.hasPrefix("tenant") }
            #expect(words == names, "\(shown)")
            #expect(shown.components(separatedBy: line == "list" ? " open " : " tripped ").count == 4, "\(shown)")
            let lines = shown.split(separator: "\n").filter { $0.count > 80 }
            #expect(length > 80 ? lines.count == 3 : lines.isEmpty, "\(shown)")
        }
        // Where no terminal is, a circuit has one line.
        #expect(try Child.shell("\"$0\" list", store: shop.path).output.split(separator: "\n").count == 4)
    }

    /// Format characters are spelled out, as they are not seen.
    @Test(arguments: [
        "list", "show", "check", "history", "hold open", "hold closed", "wait --for=held", "probe", "release", "reset",
        "forget --force --yes",
    ])
    func canBeGivenBackAsSpelled(verb: String) throws {
        let shop = try Shop()
        for name in ["a\u{200B}b", "ab", "a\u{202E}b"] { try shop.circuit(name, failures: 2) }
        if ["wait --for=held", "release"].contains(verb) { try shop.store.hold("a\u{200B}b", .open) }
        let words = verb.split(separator: " ").map { String($0) }
        let (code, output, talk) = shop.inspect(arguments: words + [#"a\u{200B}b"#])
        #expect(code == (verb == "check" ? .notClosed : .done) && talk.isEmpty, "\(code) \(talk)")
        let told = verb == "history" ? "tripped" : #"a\u{200B}b"#
        #expect(output.contains(told) && !output.contains("202E"), "\(output)")
    }

    // MARK: - A screen that is drawn again

    /// What is written in each place of the screen, by the last frame that was shown.
    private func places(_ terminal: Terminal) throws -> [String] {
        terminal.type("\u{3}")
        #expect(try terminal.end() == 130)
        let frame = try #require(terminal.shown.components(separatedBy: "\u{1B}[2J").last)
        return frame.split(separator: #/\u{1B}\[\d+;1H/#).map {
            String($0.prefix { $0 != "\u{1B}" })
        }
    }

    @Test(arguments: [45, 70, 100]) func haveTheirPlacesOnAScreen(length: Int) throws {
        let names = self.alike(length)
        let shop = try self.shop(names)
        let terminal = try Terminal("exec \"$0\" list --watch=0.05 --color=never", store: shop.path)
        for _ in names { try terminal.read(until: "/webhook") }
        try terminal.read(until: "\u{1B}[K")
        let places = try self.places(terminal).map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(places.allSatisfy { $0.displayWidth <= 80 }, "\(places)")
        let shown = places.compactMap { $0.split(separator: " ").first }.filter { $0.hasPrefix("tenant") }
        #expect(shown.map { String($0) } == names.map { $0.cutInside(to: 80) }, "\(places)")
    }

    /// A row of two lines leaves room for one row less.
    @Test func leaveRoomForWhatIsLeftOut() throws {
        let shop = try self.shop((10...40).map { "tenant-" + String(repeating: "0", count: 60) + "\($0)" })
        let terminal = try Terminal("exec \"$0\" list --watch=0.05 --color=never", store: shop.path)
        try terminal.read(until: "more: ")
        try terminal.read(until: "\u{1B}[K")
        let places = try self.places(terminal)
        #expect(places.count <= 24)
        let shown = places.count { $0.contains("tenant") }
        #expect(shown == 10 && places.last == "(21 more: 21 open)", "\(places)")
    }
}
