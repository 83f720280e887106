import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite(.timeLimit(.minutes(10))) struct SetAsideTests {
    /// A shop whose file somebody has changed; its service runs, and guards in memory.
    private func changedShop() throws -> Shop {
        let shop = try Shop()
        try shop.circuit("a")
        try Shop.sqlite(shop.path, "ALTER TABLE event ADD COLUMN mine TEXT")
        return shop
    }

    private func names(in shop: Shop) -> [String] {
        Directory.names(in: shop.directory.path).filter { !$0.contains("-board") }
    }

    @Test func saysWhyAndAsks() throws {
        let shop = try self.changedShop()
        let before = self.names(in: shop)
        let console = RecordingConsole(answering: ["n"])
        let refused = shop.inspect("set-aside", on: console)
        #expect(refused.code == .declined)
        #expect(
            refused.talk == "'\(shop.path)': the file is not used: the table 'event' is not as this library makes it\n"
                + "Its history goes with it, and each hold and open state that no running service knows. "
                + "Move it away? [y/N] nothing was changed\n")
        let dry = shop.inspect("set-aside", "--dry-run")
        #expect(dry.code == .done)
        #expect(dry.talk.hasSuffix("dry run: nothing was changed\n"))
        #expect(self.names(in: shop) == before)
        let unasked = shop.inspect("set-aside")
        #expect(unasked.code == .usage)
        #expect(unasked.talk.contains("--yes"))
        #expect(shop.inspect("set-aside", "a").code == .usage)
    }

    @Test func movesTheThreeFilesAwayWhileServicesRun() throws {
        let shop = try self.changedShop()
        shop.store.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: shop.path))
        var configuration = shop.configuration
        configuration.whenUnavailable = .degrade
        let service = try CircuitStore(path: shop.path, configuration: configuration)
        defer { service.close() }
        #expect(!service.health.isHealthy)
        let console = RecordingConsole(answering: ["y"])
        let (code, output, talk) = shop.inspect("set-aside", on: console)
        #expect(code == .done, "\(talk)")
        let kept = try #require(output.split(separator: "\n").first?.split(separator: " ").last)
        #expect(output == "\(shop.path) -> \(kept)\n")
        #expect(kept.hasPrefix("\(shop.path).corrupt-"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: String(kept))) == log)
        let ended = ContinuousClock.now + .hangLimit
        while !service.health.isHealthy, ContinuousClock.now < ended { usleep(1_000) }
        #expect(service.health.isHealthy)
        #expect(shop.inspect("doctor").code == .done)
    }

    @Test func refusesWhatServicesUse() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let (code, output, talk) = shop.inspect("set-aside", "--yes")
        #expect(code == .failed)
        #expect(output.isEmpty)
        #expect(
            talk == "breaker-inspect: cannot set aside '\(shop.path)': services have the store open, and nothing is "
                + "wrong with its tables\nhint: stop the services first\n")
        shop.store.close()
        let dry = shop.inspect("set-aside", "--dry-run", "--json")
        #expect(try SchemaTests.schema().complaints(about: dry.output, as: "setAside") == [])
        let done = shop.inspect("set-aside", "--yes", "--json")
        #expect(done.code == .done)
        #expect(try SchemaTests.schema().complaints(about: done.output, as: "setAside") == [])
        #expect(self.names(in: shop).allSatisfy { $0.contains(".corrupt-") || $0.hasSuffix("-lock") })
        let gone = shop.inspect("set-aside", "--yes")
        #expect(gone.code == .failed)
        #expect(gone.talk.contains("no such file"))
    }

    /// A file of a later version and one of another program are left as they are, also by a person's word.
    @Test(arguments: [
        "PRAGMA user_version = 4000", "PRAGMA application_id = 7",
        "PRAGMA user_version = 0; PRAGMA application_id = 0; CREATE TABLE theirs (x)",
    ])
    func leavesTheFilesOfOthers(statement: String) throws {
        let shop = try Shop()
        shop.store.close()
        try Shop.sqlite(shop.path, statement)
        let before = self.names(in: shop)
        #expect(shop.inspect("set-aside", "--yes").code == .failed)
        #expect(shop.inspect("set-aside", on: RecordingConsole(answering: ["y"])).code == .failed)
        #expect(self.names(in: shop) == before)
    }
}
