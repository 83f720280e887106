import BreakerStore
import BreakerStoreJSON
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Commands on more circuits than one transaction changes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ManyChangesTests {
    /// A shop of so many open circuits without services, whose names are not in the order of their numbers.
    private func shop(of count: Int) throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("one", failures: 2, recovery: 100_000)
        shop.store.close()
        try shop.copyCircuit(times: count, named: "'m-' || ((i + 1) * 7919 % 99991)")
        return shop
    }

    private func opened(_ shop: Shop) throws -> CircuitStore {
        try CircuitStore(path: shop.path, configuration: shop.configuration)
    }

    /// A console that calls `body` after each transaction, and is interrupted once `body` returns true.
    private func console(_ body: @escaping () -> Bool) -> RecordingConsole {
        let console = RecordingConsole()
        console.interrupts = body
        return console
    }

    private func held(_ store: CircuitStore) throws -> Int {
        let circuits = try store.circuits()
        return circuits.count { $0.hold != nil }
    }

    /// Each verb, with the word of its event and of the new state.
    @Test func eachVerbChangesAThousandAtMostAtOnce() throws {
        let count = 1_200
        let shop = try self.shop(of: count)
        let store = try self.opened(shop)
        defer { store.close() }
        for (line, kind, to) in [
            ("probe", CircuitEvent.Kind.probeAllowed, "open"), ("hold open", .held, "held-open"),
            ("release", .released, "open"), ("reset", .reset, "closed"), ("forget", .forgotten, "forgotten"),
        ] {
            var events: [Int] = [0]
            let console = self.console {
                let history = try? store.history(of: nil, limit: 100_000)
                events.append(history?.count { $0.kind == kind } ?? -1)
                return false
            }
            let words = line.split(separator: " ").map(String.init)
            let (code, output, talk) = shop.inspect(arguments: words + ["m-*", "--yes"], on: console)
            #expect(code == .done, "\(line): \(talk)")
            #expect(talk.isEmpty, "\(line): \(talk)")
            let lines = output.split(separator: "\n")
            #expect(lines.count == count, "\(line)")
            let change = line == "probe" ? "its next call is a probe" : "-> \(to)"
            #expect(lines.allSatisfy { $0.contains(change) }, "\(line): \(lines.first ?? "")")
            let names = lines.map { $0.prefix { $0 != " " } }
            #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            #expect(events.count > 2 && events.last == count, "\(line): \(events)")
            let steps = zip(events, events.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { (1...1_000).contains($0) }, "\(line): \(steps)")
        }
    }

    @Test func jsonIsWhatItWas() throws {
        let shop = try self.shop(of: 1_100)
        let (code, output, _) = shop.inspect("reset", "m-*", "--yes", "--json")
        #expect(code == .done)
        #expect(try SchemaTests.schema().complaints(about: output, as: "changes") == [])
        let names = output.matches(of: /\{"from":"open","name":"([^"]*)","to":"closed"\}/).map { String($0.1) }
        #expect(names.count == 1_100)
        #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(output.hasSuffix("],\"degraded\":null,\"dryRun\":false,\"unreadable\":[],\"version\":1}\n"))
    }

    @Test func anInterruptEndsItAfterAStep() throws {
        let shop = try self.shop(of: 1_500)
        let console = self.console { true }
        let (code, output, talk) = shop.inspect("hold", "open", "m-*", "--yes", "--json", on: console)
        #expect(code == .interrupted)
        let message = /breaker-inspect: interrupted after (\d+) of 1500 circuits; the others are as they were\n/
        let said = try #require(talk.prefixMatch(of: message))
        #expect(talk.hasSuffix("\nhint: run the command again to change the others, too\n"))
        let count = try #require(Int(said.1))
        #expect((1...1_000).contains(count))
        #expect(try SchemaTests.schema().complaints(about: output, as: "changes") == [])
        #expect(output.matches(of: /"to":"held-open"/).count == count)
        let store = try self.opened(shop)
        defer { store.close() }
        #expect(try self.held(store) == count)
        #expect(!console.isDeferring)
        // The same command does the rest.
        #expect(shop.inspect("hold", "open", "m-*", "--yes").code == .done)
        #expect(try self.held(store) == 1_500)
    }

    /// An interrupt that comes when all is done has nothing to end.
    @Test func anInterruptAfterTheLastStepIsNone() throws {
        let shop = try self.shop(of: 1_100)
        let store = try self.opened(shop)
        defer { store.close() }
        let console = self.console { (try? self.held(store)) == 1_100 }
        let (code, _, talk) = shop.inspect("hold", "closed", "m-*", "--yes", on: console)
        #expect(code == .done)
        #expect(talk.isEmpty)
    }

    @Test func anErrorSaysHowFarItCame() throws {
        let shop = try self.shop(of: 1_500)
        let store = try self.opened(shop)
        defer { store.close() }
        let last = try #require(try store.circuits().map(\.name).filter { $0 != "one" }.last)
        let lastByNumber = "m-\(1_500 * 7_919 % 99_991)"
        #expect(try store.circuit(named: lastByNumber) != nil && last != lastByNumber)
        // A live worker registers the circuit that would be deleted last, while others are deleted.
        let console = self.console {
            _ = try? store.breaker(named: lastByNumber)
            return false
        }
        let (code, output, talk) = shop.inspect("forget", "m-*", "--yes", on: console)
        #expect(code == .failed)
        let said = try #require(
            talk.firstMatch(
                of: /cannot forget: circuit '.*' is registered by .*; reached (\d+) of 1500 circuits\nhint: stop/))
        let count = try #require(Int(said.1))
        #expect(output.split(separator: "\n").count == count)
        #expect(try store.circuits().count == 1_501 - count)
    }

    @Test func showsItsProgressOnATerminal() throws {
        let shop = try self.shop(of: 1_500)
        let console = RecordingConsole()
        console.errorIsTerminal = true
        let (code, _, talk) = shop.inspect("hold", "open", "m-*", "--yes", on: console)
        #expect(code == .done)
        #expect(talk.hasPrefix("\r"))
        #expect(talk.contains("\r1500 of 1500 circuits\r"))
        // The line is cleared.
        #expect(talk.hasSuffix(" \r"))
        let few = RecordingConsole()
        few.errorIsTerminal = true
        #expect(shop.inspect("hold", "open", "m-1*", "--yes", on: few).talk.isEmpty)
    }

    /// Another writer needs no luck to commit between two transactions.
    @Test func othersCommitBetweenTheSteps() throws {
        let shop = try self.shop(of: 2_500)
        let store = try self.opened(shop)
        defer { store.close() }
        var resets: [Bool] = []
        let console = self.console {
            resets.append((try? store.reset("one")) != nil)
            return false
        }
        let result = shop.inspect("hold", "open", "m-*", "--yes", on: console)
        #expect(result.code == .done, "\(result.talk)")
        #expect(result.talk.isEmpty && resets.count >= 2 && resets.allSatisfy(\.self), "\(resets)")
        let history = try store.history(of: nil, limit: 1_000_000)
        let held = history.filter { $0.kind == .held }.map(\.id)
        #expect(held.count == 2_500)
        let (first, last) = (try #require(held.min()), try #require(held.max()))
        #expect(history.contains { $0.kind == .reset && (first...last).contains($0.id) })
        #expect(store.health.isHealthy)
    }

    /// Ctrl-C, and what a system that shuts down sends.
    @Test(arguments: ["\u{3}", "TERM"]) func canBeInterruptedOnATerminal(end: String) throws {
        let shop = try self.shop(of: 20_000)
        let terminal = try Terminal("exec \"$0\" hold open 'm-*' --yes", store: shop.path)
        try terminal.read(until: " of 20000 circuits")
        if end == "TERM" { kill(terminal.pid, SIGTERM) } else { terminal.type(end) }
        let code = try terminal.end()
        #expect(code == (end == "TERM" ? -SIGTERM : 130))
        let said = try #require(terminal.shown.firstMatch(of: /interrupted after (\d+) of 20000 circuits/))
        let store = try self.opened(shop)
        defer { store.close() }
        #expect(try self.held(store) == Int(said.1))
    }
}
