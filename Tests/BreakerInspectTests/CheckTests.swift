import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct CheckTests {
    @Test func saysWithItsCodeWhetherAllIsWell() throws {
        let shop = try Shop()
        #expect(shop.inspect("check").code == .done)
        try shop.fillWithStates()
        let (code, output, talk) = shop.inspect("check")
        #expect(code == .notClosed)
        #expect(talk.isEmpty)
        #expect(
            output == "b open  open\nd held open  held-open by bob for 0 s, until 2026-01-01 02:00:00Z: moving\n"
                + "e held closed  held-closed by bob for 0 s\n")
        #expect(shop.inspect("check", "a*").code == .done)
        #expect(shop.inspect("check", "a*").output.isEmpty)
        #expect(shop.inspect("check", "a*", "b open").code == .notClosed)
    }

    @Test(arguments: [["nobody"], ["z*"], ["a*", "z*"], ["a*", "--exact"]])
    func failsWhereNothingFits(operands: [String]) throws {
        let shop = try Shop()
        try shop.circuit("a")
        let (code, output, talk) = shop.inspect(arguments: ["check"] + operands)
        #expect(code == .noSuchCircuit)
        #expect(output.isEmpty)
        #expect(talk.split(separator: "\n").count == 2)
    }

    @Test func showsItInJSON() throws {
        let shop = try Shop()
        try shop.circuit("a")
        #expect(
            shop.inspect("check", "--json").output
                == #"{"checked":1,"degraded":null,"isClosed":true,"isRefusing":false,"notClosed":[],"unreadable":[],"version":1}"#
                + "\n")
        try shop.circuit("b", failures: 2)
        let (code, output, _) = shop.inspect("check", "--json")
        #expect(code == .notClosed)
        #expect(
            output.hasPrefix(
                #"{"checked":2,"degraded":null,"isClosed":false,"isRefusing":true,"notClosed":[{"beneath":null,"#
            ))
    }
}
