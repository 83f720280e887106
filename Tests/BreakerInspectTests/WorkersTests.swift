import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite struct WorkersTests {
    @Test func showsWhoLivesAndWhatTheyProbe() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let half = try shop.circuit("half", failures: 2)
        let pid = ProcessInfo.processInfo.processIdentifier
        clock.advance(by: .seconds(30))
        #expect(shop.inspect("workers").output.hasSuffix(" \(pid)  30 s ago  \(Versions.library)    -\n"))
        let permit: CallPermit = try half.admit()
        let (code, output, talk) = shop.inspect("workers")
        #expect(code == .done)
        #expect(talk.isEmpty)
        #expect(output.hasPrefix("NAME"))
        #expect(output.hasSuffix(" \(pid)  30 s ago  \(Versions.library)    half\n"))
        let json = shop.inspect("workers", "--json").output
        #expect(
            json.hasSuffix(
                #""pid":\#(pid),"probing":["half"],"since":"2026-01-01T00:00:00.000Z","sinceMs":1767225600000,"#
                    + #""version":"\#(Versions.library)"}]}"#
                    + "\n"))
        permit.discard()
        #expect(shop.inspect("workers", "x").code == .usage)
    }

    @Test(.timeLimit(.minutes(10))) func saysThatNobodyLives() async throws {
        let shop = try Shop()
        shop.store.close()
        // A child that another test has just forked keeps the worker's lock until its program begins.
        while !shop.inspect("workers").output.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let (code, output, talk) = shop.inspect("workers")
        #expect(code == .done)
        #expect(output.isEmpty)
        #expect(talk == "no process has the store open\n")
    }
}
