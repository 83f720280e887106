import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// A broken file without a lock file: services refuse it, and an operator moves it away.
@Suite(.timeLimit(.minutes(10))) struct BrokenFileTests {
    /// What is at the path instead of a database.
    enum Content: CaseIterable {
        case text, zeros, oneByte, flippedHeader

        func bytes(of store: Data) -> Data {
            switch self {
            case .text: return Data("not a database\n".utf8)
            case .zeros: return Data(count: store.count)
            case .oneByte: return Data("x".utf8)
            case .flippedHeader:
                var store = store
                store[3] ^= 1
                return store
            }
        }
    }

    /// A shop without services, its file broken, and no lock file beside it.
    private func brokenShop(_ content: Content) throws -> Shop {
        let shop = try Shop()
        try shop.circuit("a")
        shop.store.close()
        for ending in ["-lock", "-board"] { try? FileManager.default.removeItem(atPath: shop.path + ending) }
        let store = try Data(contentsOf: URL(fileURLWithPath: shop.path))
        try content.bytes(of: store).write(to: URL(fileURLWithPath: shop.path))
        return shop
    }

    private static func contents(of shop: Shop) throws -> [String: Data] {
        let names = Directory.names(in: shop.directory.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try Data(contentsOf: shop.directory.appendingPathComponent($0)))
            })
    }

    @Test(arguments: Content.allCases) func isMovedAwayAndServicesBeginANewOne(content: Content) throws {
        let shop = try self.brokenShop(content)
        for ending in ["-wal", "-shm", "-journal"] {
            try Data("what lay beside it: \(ending)".utf8).write(to: URL(fileURLWithPath: shop.path + ending))
        }
        let before = try Self.contents(of: shop)
        let error = #expect(throws: BreakerStoreError.self) {
            try CircuitStore(path: shop.path, configuration: shop.configuration)
        }
        #expect(error?.code == .notAStore)
        #expect(error?.advice?.contains("'breaker-inspect set-aside' moves it away") == true)
        let (code, output, talk) = shop.inspect("set-aside", "--yes")
        #expect(code == .done, "\(talk)")
        let kept = try #require(output.split(separator: "\n").first?.split(separator: " ").last)
        #expect(kept.hasPrefix("\(shop.path).corrupt-"))
        let after = try Self.contents(of: shop)
        #expect(after.keys.allSatisfy { $0.contains(".corrupt-") }, "\(after.keys)")
        #expect(Set(after.values) == Set(before.values))
        let service = try CircuitStore(path: shop.path, configuration: shop.configuration)
        defer { service.close() }
        #expect(service.health.isHealthy)
        #expect(shop.inspect("doctor").code == .done)
    }

    /// The path may be mistyped: nothing in the file shows that it was a store.
    @Test func isMovedOnlyWhenThePathIsConfirmed() throws {
        let shop = try self.brokenShop(.text)
        let before = try Self.contents(of: shop)
        let console = RecordingConsole(answering: ["n"])
        let refused = shop.inspect("set-aside", on: console)
        #expect(refused.code == .declined)
        #expect(
            refused.talk == "'\(shop.path)': it is not an SQLite database, so not a store of circuits\n"
                + "Nothing in it looks like a store: check the path. Move it away? [y/N] "
                + "nothing was changed\n")
        let unasked = shop.inspect("set-aside")
        #expect(unasked.code == .usage)
        #expect(unasked.talk.contains("--yes"))
        #expect(shop.inspect("set-aside", "--dry-run").code == .done)
        #expect(try Self.contents(of: shop) == before)
        #expect(shop.inspect("set-aside", on: RecordingConsole(answering: ["y"])).code == .done)
        #expect(try Self.contents(of: shop) != before)
    }

    @Test func theDoctorSaysHow() throws {
        let shop = try self.brokenShop(.text)
        let (code, output, talk) = shop.inspect("doctor")
        #expect(code == .failed)
        #expect(talk.isEmpty)
        let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let place = try #require(lines.firstIndex { $0.hasPrefix("file ") && $0.contains("wrong") })
        #expect(
            lines[place].hasSuffix(
                "'\(shop.path)': it is not an SQLite database, or is damaged; services that start now refuse it"))
        #expect(
            lines[place + 1] == "-> if it was the store: 'breaker-inspect set-aside' moves it away, and they start a "
                + "new one; else correct the path")
        #expect(try SchemaTests.schema().complaints(about: shop.inspect("doctor", "--json").output, as: "doctor") == [])
    }

    /// A lock file shows that there was a store: services move the file away themselves.
    @Test func theDoctorSaysThatServicesMoveAKnownOneAway() throws {
        let shop = try Shop()
        shop.store.close()
        try Data("not a database".utf8).write(to: URL(fileURLWithPath: shop.path))
        let output = shop.inspect("doctor").output
        #expect(output.contains("the next service that opens it moves it away, and starts a new one"))
        let service = try CircuitStore(path: shop.path, configuration: shop.configuration)
        service.close()
        #expect(Directory.names(in: shop.directory.path).contains { $0.hasPrefix("shop.db.corrupt-") })
    }

    /// Services that guard in memory begin a new file by themselves.
    @Test func degradedServicesComeBack() throws {
        let shop = try self.brokenShop(.text)
        var configuration = shop.configuration
        configuration.whenUnavailable = .degrade
        let service = try CircuitStore(path: shop.path, configuration: configuration)
        defer { service.close() }
        #expect(!service.health.isHealthy)
        #expect(shop.inspect("set-aside", "--yes").code == .done)
        let end = ContinuousClock.now + .hangLimit
        while !service.health.isHealthy, ContinuousClock.now < end { usleep(1_000) }
        #expect(service.health.isHealthy)
    }

    /// Somebody names a file beside the store.
    @Test(arguments: ["-wal", "-shm", "-lock", "-board"])
    func filesBesideAStoreStay(ending: String) throws {
        let shop = try Shop()
        try shop.circuit("a", failures: 1)
        shop.store.close()
        let path = shop.path + ending
        try #require(FileManager.default.fileExists(atPath: path))
        let names = Directory.names(in: shop.directory.path)
        let (code, _, talk) = shop.inspect("set-aside", "--yes", "--store", path)
        #expect(code == .failed)
        #expect(talk.contains("is only a part of a store"), "\(talk)")
        #expect(Directory.names(in: shop.directory.path) == names)
    }
}
