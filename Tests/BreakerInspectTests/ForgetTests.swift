import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct ForgetTests {
    /// A shop whose services have ended.
    private func closedShop() throws -> Shop {
        let shop = try Shop()
        try shop.fillWithStates()
        shop.store.close()
        return shop
    }

    @Test(arguments: [("b open", "y", ExitCode.done), ("b open", "n", .declined), ("[ab]*", "y", .done)])
    func asksAboutNamesToo(operand: String, answer: String, code: ExitCode) throws {
        let shop = try self.closedShop()
        let console = RecordingConsole(answering: [answer])
        let result = shop.inspect("forget", operand, "--reason", "moved", on: console)
        #expect(result.code == code)
        let isPattern = operand != "b open"
        #expect(result.talk.hasPrefix("This would forget \(isPattern ? "2 circuits" : "1 circuit"):\n"))
        #expect(result.talk.contains("  b open"))
        let isGone = code == .done
        #expect(result.output.contains("b open\(isPattern ? "  " : "")  open -> forgotten\n") == isGone)
        #expect(shop.inspect("show", "b open").code == (isGone ? .noSuchCircuit : .done))
        guard isGone else { return }
        // Its history stays, and says who did it.
        let history = shop.inspect("history", "b open").output
        #expect(history.contains(/forgotten +open +ann +moved\n/))
    }

    @Test func needsATerminalToAskOn() throws {
        let shop = try self.closedShop()
        let result = shop.inspect("forget", "b open")
        #expect(result.code == .usage)
        #expect(result.talk.contains("--yes"))
        #expect(shop.inspect("forget", "b open", "--dry-run").output == "b open  open -> forgotten\n")
        #expect(
            shop.inspect("forget", "b open", "--yes", "--json").output
                == #"{"changes":[{"from":"open","name":"b open","to":"forgotten"}],"degraded":null,"#
                + #""dryRun":false,"unreadable":[],"version":1}"#
                + "\n")
        #expect(shop.inspect("forget", "b open", "--yes").code == .noSuchCircuit)
        #expect(shop.inspect("forget", "--all").code == .usage)
        #expect(shop.inspect("forget").code == .usage)
    }

    @Test func refusesWhatALiveWorkerHasRegistered() throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 2)
        let (code, output, talk) = shop.inspect("forget", "a", "--yes")
        #expect(code == .failed)
        #expect(output.isEmpty)
        #expect(
            talk == "breaker-inspect: cannot forget: a live worker has 'a' registered\nhint: stop the services that "
                + "use it first, or give --force: they register it again at their next call\n")
        #expect(shop.inspect("forget", "a", "--dry-run").code == .failed)
        #expect(shop.inspect("forget", "a", "--yes", "--force").output == "a  open -> forgotten\n")
        #expect(shop.inspect("list").talk == "the store has no circuits\n")
    }

    /// What came alive while the operator thought is found in the transaction that deletes.
    @Test func asksAgainInTheTransaction() throws {
        let shop = try self.closedShop()
        let late = try CircuitStore(path: shop.path, configuration: shop.configuration)
        defer { late.close() }
        let console = RecordingConsole(answering: ["y"])
        console.whileAsked = {
            _ = try? late.breaker(
                .init(name: "b open", recoveryTimeout: .seconds(30), maxFailures: 2, rollingWindow: .seconds(60)))
        }
        let (code, output, talk) = shop.inspect("forget", "a closed", "b open", on: console)
        #expect(code == .failed)
        #expect(output.isEmpty)
        #expect(talk.contains("breaker-inspect: cannot forget: circuit 'b open' is registered by "))
        // All or none.
        #expect(shop.inspect("list").output.split(separator: "\n").count == 5)
    }
}
