import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// `run` with real shells and commands.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RunTests {
    private func shop() throws -> Shop { try Shop(clock: SystemHostClock()) }

    /// `"$0" run …` in a shell, beside the store's own process.
    private func run(_ words: String, in shop: Shop) throws -> Child.Result {
        try Child.shell("\"$0\" run \(words)", store: shop.path)
    }

    @Test(arguments: [
        ("a -- true", 0, 0), ("a -- false", 1, 1), ("a -- sh -c 'exit 3'", 3, 1), ("a -- sh -c 'kill -9 $$'", 137, 1),
        ("a -- sh -c 'kill -TERM $$'", 143, 1), ("a -- sh -c 'kill -INT $$'", 130, 0),
        ("a --ignore 3-5,9 -- sh -c 'exit 4'", 4, 0), ("a -- sh -c 'exit 126'", 126, 0),
        ("a -- sh -c 'exec nonesuch 2>&-'", 127, 0), ("a -- nonesuch", 127, 0), ("a -- /etc/passwd", 126, 0),
        ("a -- /", 126, 0), ("a --refused-code 9 -- sh -c 'exit 75'", 75, 1), ("a -- sh -c 'exit 255'", 255, 1),
    ])
    func passesTheExitCodeOn(words: String, code: Int32, failures: Int) throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let result = try self.run(words, in: shop)
        #expect(result.code == code, "\(result.talk)")
        #expect(breaker.failureCount == failures)
        #expect(breaker.totals.succeeded == (code == 0 ? 1 : 0))
    }

    /// Of the signals only those up to 28 are compared: the C library has two of its own.
    @Test func givesTheCommandAllThatItHas() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let line = """
            trap '' PIPE HUP; exec 5</dev/null
            for word in '' '"$0" run a --'; do
                eval "printf '%s|' \\"\\$(echo in | $word sh -c 'cat; echo \\"\\$1\\"; ls /proc/self/fd; grep -e SigB -e SigI -e SigC /proc/self/status | grep -o .......$' sh 'x y')\\""
            done
            """
        let result = try Child.shell(line, store: shop.path)
        let parts = result.output.split(separator: "|")
        try #require(parts.count == 2, "\(result.output)\(result.talk)")
        #expect(parts[0] == parts[1])
        #expect(parts[0].hasPrefix("in\nx y\n"))
    }

    @Test func reportsARefusalAsLineOrJSON() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a", failures: 2)
        let plain = try self.run("a -- touch \"$BREAKER_STORE.ran\"", in: shop)
        #expect(plain.code == 75)
        #expect(plain.talk.wholeMatch(of: #/refused: open, retry in \d+ s\n/#) != nil, "\(plain.talk)")
        #expect(plain.output.isEmpty)
        #expect(try self.run("a --refused-code 9 -- true", in: shop).code == 9)
        let document = try self.run("a --json -- true", in: shop)
        #expect(document.code == 75)
        #expect(try SchemaTests.schema().complaints(about: document.output, as: "refused") == [])
        try shop.store.hold("a", .open, by: "ann", reason: "moving \u{1B}[2J")
        let held = try self.run("a --wait 1h -- true", in: shop)
        #expect(held.code == 75)
        #expect(held.talk == "refused: held open by ann: moving \\u{1B}[2J\n")
        try shop.store.reset("a")
        try shop.store.hold("a", .closed)
        #expect(try self.run("a -- false", in: shop).code == 1)
        #expect(!FileManager.default.fileExists(atPath: shop.path + ".ran"))
        #expect(breaker.failureCount == 0)
    }

    @Test func registersWhatIsMissingAndKeepsWhatIsStored() throws {
        let shop = try self.shop()
        #expect(try self.run("b --rule 2x -- false", in: shop).code == 1)
        #expect(try shop.store.circuit(named: "b")?.config.trip == .consecutiveFailures(2))
        let other = try self.run("b --rule 3/60s -- true", in: shop)
        #expect(other.code == 0)
        #expect(
            other.talk
                == "breaker-inspect: 'b' keeps its stored rules; '--rule' differs: trip 2 in a row -> 3 within 60 s\n")
        #expect(try self.run("b -- true", in: shop).talk.isEmpty)
        #expect(try shop.store.circuit(named: "b")?.config.trip == .consecutiveFailures(2))
        #expect(try self.run("c -- true", in: shop).talk.isEmpty)
        #expect(try shop.store.circuit(named: "c")?.config == CircuitBreaker.Config(name: "c"))
    }

    @Test(arguments: [
        "", "a", "a true", "a --", "-- true", "a b -- true", "a -- ''", "a --timeout 5 -- true", "a --wait x -- true",
        "a --ignore 0 -- true", "a --refused-code 0 -- true", "a --refused-code 256 -- true", "a --rule x -- true",
        "a --all -- true", "'' -- true", "\"$(printf 'a\\nb')\" -- true", "\"$(printf '%300s' x)\" -- true",
    ])
    func refusesAWrongCommandLine(words: String) throws {
        let shop = try self.shop()
        let result = try self.run(words, in: shop)
        #expect(result.code == 64, "\(result.talk)")
        #expect(result.talk.hasPrefix("breaker-inspect: "))
        #expect(result.output.isEmpty)
        #expect(try shop.store.circuits(matching: "*").isEmpty)
    }

    @Test(arguments: ["-x", "--", "*", "a'b", "😀", "a b", "$HOME", "..", "%s"])
    func takesAnyName(name: String) throws {
        let shop = try self.shop()
        let line = "NAME='\(name.replacing("'", with: "'\\''"))'; \"$0\" run -- \"$NAME\" -- true"
        let result = try Child.shell(line, store: shop.path)
        #expect(result.code == 0, "\(result.talk)")
        #expect(try shop.store.circuit(named: name) != nil)
    }

    /// The store is a directory, lies in a missing one, or is another program's file.
    @Test(arguments: ["\"$BREAKER_STORE.d\"", "/nowhere/x.db", "\"$BREAKER_STORE.text\"", "/dev/null"])
    func runsTheCommandWithoutAStore(path: String) throws {
        let shop = try self.shop()
        let line = """
            mkdir "$BREAKER_STORE.d"; echo text >"$BREAKER_STORE.text"; "$0" run a --store \(path) -- sh -c 'echo ran; exit 3'
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.code == 3)
        #expect(result.output == "ran\n")
        #expect(result.talk.hasPrefix("breaker-inspect: the command runs, and counts nowhere: "), "\(result.talk)")
        #expect(result.talk.count { $0 == "\n" } == 1)
    }

    @Test(arguments: [
        ("echo 3600", true, ""), ("date -u -d '+1 hour' '+%a, %d %b %Y %H:%M:%S GMT'", true, ""), ("true", false, ""),
        ("echo soon", false, "neither seconds nor an HTTP date"), ("head -c 5000 /dev/zero", false, "neither"),
        ("rm \"$FILE\"; mkdir \"$FILE\"; :", false, "no regular file"),
        ("rm \"$FILE\"; mkfifo \"$FILE\"; :", false, "no regular file"),
    ])
    func takesAnOutageFromAFile(write: String, isOpen: Bool, talk: String) throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let writing = write.hasSuffix(":") ? write : "\(write) >\"$FILE\""
        let command = "sh -c '\(writing.replacing("'", with: "'\\''")); exit 1'"
        let line = """
            export FILE="$BREAKER_STORE.after"; echo 60 >"$FILE"; sleep 0.02
            "$0" run a --retry-after-file "$FILE" -- \(command)
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.code == 1)
        #expect(talk.isEmpty ? result.talk.isEmpty : result.talk.contains(talk), "\(result.talk)")
        #expect(breaker.isCallPermitted != isOpen)
        if isOpen, case .open(let until) = breaker.state {
            #expect(until.timeIntervalSinceNow > 1_800)
        }
    }

    /// What lay there before says nothing about this call, nor does a success.
    @Test(arguments: ["false", "sh -c 'echo 60 >\"$BREAKER_STORE.after\"'"])
    func ignoresAFileThatMeansNothing(command: String) throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let line = "echo 60 >\"$BREAKER_STORE.after\"; \"$0\" run a --retry-after-file \"$BREAKER_STORE.after\" -- "
        #expect(try Child.shell(line + command, store: shop.path).talk.isEmpty)
        #expect(breaker.isCallPermitted)
    }
}
