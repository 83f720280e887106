import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What `complete` answers to the scripts.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
    private func texts(_ shop: Shop, _ words: String...) -> [String] {
        let answer = shop.inspect(arguments: ["complete", "zsh", "--"] + words)
        #expect(answer.code == .done)
        #expect(answer.talk.isEmpty)
        let lines = answer.output.split(separator: "\n")
        return lines.dropFirst().map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func offersEveryVerbAndOptionOfTheHelp() throws {
        let shop = try Shop()
        #expect(self.texts(shop, "") == Tool.verbs.map { $0.name })
        #expect(self.texts(shop, "help", "") == Tool.verbs.map { $0.name })
        for verb in Tool.verbs {
            let options = verb.options + Tool.program.commonOptions(of: verb)
            #expect(self.texts(shop, verb.name, "--") == options.map(\.spelling))
            #expect(verb.operands.isEmpty == verb.synopsis.isEmpty, "\(verb.name)")
            for option in options {
                #expect(option.kind == .text || option.placeholder != nil, "\(option.spelling)")
            }
        }
    }

    /// A control character would move the cursor, a newline would end the name, and others show another order.
    @Test func leavesOutWhatATerminalObeys() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", group: "group")
        try shop.circuit("b")
        let hostile = ["10", "9", "27) || char(91", "127", "155", "8238", "65533"]
        for number in hostile.indices { try shop.circuit("a\(number)") }
        shop.store.close()
        for (number, scalar) in hostile.enumerated() {
            let text = "'a' || char(\(scalar)) || 'b'"
            try Shop.sqlite(
                shop.path, "UPDATE circuit SET name = \(text), group_name = \(text) WHERE name = 'a\(number)'")
        }
        #expect(self.texts(shop, "show", "") == ["a", "b"])
        #expect(self.texts(shop, "list", "--group", "") == ["group"])
    }

    /// The tool would take such a name for an option.
    @Test func offersNamesWithADashBehindTwoOfThem() throws {
        let shop = try Shop()
        for name in ["-dash", "--", "a"] { try shop.circuit(name) }
        #expect(self.texts(shop, "list", "") == ["a"])
        #expect(self.texts(shop, "list", "a", "--", "") == ["--", "-dash", "a"])
        #expect(self.texts(shop, "list", "--", "-d") == ["-dash"])
    }

    @Test(arguments: [
        ["list", "--store"], ["metrics", "--output"], ["metrics", "--store", "a", "--store"], ["metrics", "--output="],
        ["metrics", "--store=a", "--store="], ["metrics", "--max-circuits", "5", "--output"],
        ["report"], ["report", "--force"],
    ])
    func leavesPathsToTheShell(words: [String]) throws {
        let shop = try Shop()
        let last = words.last?.hasSuffix("=") == true ? [] : [""]
        #expect(shop.inspect(arguments: ["complete", "zsh", "--"] + words + last).output == "files\n")
    }

    @Test func saysNothingOnceAllIsThere() throws {
        let shop = try Shop()
        try shop.circuit("a")
        #expect(self.texts(shop, "workers", "").isEmpty)
        #expect(self.texts(shop, "show", "a", "").isEmpty)
        #expect(self.texts(shop, "reset", "--reason", "").isEmpty)
        #expect(self.texts(shop, "show", "--limit", "").isEmpty)
        #expect(self.texts(shop, "metrics", "").isEmpty)
        #expect(self.texts(shop, "metrics", "--max-circuits", "").isEmpty)
        #expect(self.texts(shop, "show", "b").isEmpty)
        #expect(shop.inspect(arguments: ["complete"]).output.isEmpty)
        #expect(shop.inspect(arguments: ["complete", "tcsh", "--", ""]).output.isEmpty)
        #expect(shop.inspect(arguments: ["complete", "bash", "--", "breaker-inspect "]).output.isEmpty)
    }

    @Test func anUnknownShellIsAUsageError() throws {
        let shop = try Shop()
        #expect(shop.inspect("completions").code == .usage)
        #expect(shop.inspect("completions", "bsh").talk.contains("did you mean 'bash'?"))
        #expect(shop.inspect("completions", "bash", "zsh").code == .usage)
    }

    /// Whatever is wrong with the file: no output, no complaint, and nothing is written or made.
    @Test(arguments: [
        "true # readable", "rm \"$BREAKER_STORE\"", "rm \"$BREAKER_STORE\"; mkdir \"$BREAKER_STORE\"",
        "echo no >\"$BREAKER_STORE\"",
        ": >\"$BREAKER_STORE\"", "rm \"$BREAKER_STORE\"; mkfifo \"$BREAKER_STORE\"",
        "chmod 0 \"$BREAKER_STORE\" # readable",
        "printf x | dd of=\"$BREAKER_STORE\" bs=1 seek=4096 conv=notrunc 2>/dev/null # readable",
        "rm \"$BREAKER_STORE\"; ln -s \"$BREAKER_STORE\" \"$BREAKER_STORE\"",
        "python3 -c 'import sqlite3,sys; sqlite3.connect(sys.argv[1]).execute(\"CREATE TABLE x (y)\")' \"$BREAKER_STORE.x\""
            + " && mv \"$BREAKER_STORE.x\" \"$BREAKER_STORE\"",
    ])
    func isSilentAndWritesNothing(damage: String) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        let folder = "\"$(dirname \"$BREAKER_STORE\")\""
        let list = "ls -lA --time-style=full-iso \(folder); stat -c %z \(folder)"
        let ask = "timeout 120 \"$0\" complete fish -- show ''"
        let result = try Child.shell("\(damage)\n\(list); \(ask); echo \"code $?\"; \(list)", store: shop.path)
        let parts = result.output.components(separatedBy: "code 0\n")
        #expect(result.talk.isEmpty)
        #expect(parts.count == 2)
        let (before, after) = (parts.first ?? "", parts.last ?? "")
        #expect(before == after || damage.hasSuffix("# readable") && before == after + "words\na\n")
    }

    @Test func isSilentWhileTheFileIsLocked() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        let holder = try LockHolder(
            shop.path, ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "UPDATE circuit SET group_name = 'x'"])
        let result = try Child.shell("\"$0\" complete fish -- show ''; echo \"code $?\"", store: shop.path)
        #expect(holder.pid > 0)
        #expect(result.output == "code 0\n")
        #expect(result.talk.isEmpty)
    }
}
