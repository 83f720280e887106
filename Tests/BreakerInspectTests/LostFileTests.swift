import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What the tool says of a file that was created in place of a lost one.
@Suite(.timeLimit(.minutes(10))) struct LostFileTests {
    /// A shop whose files were removed, and whose store has made a new one.
    private func shopThatLostItsFile() async throws -> Shop {
        let shop = try Shop()
        try shop.fillWithStates()
        let held = try shop.store.breaker(named: "d held open")
        for ending in ["", "-wal", "-shm", "-lock", "-board"] {
            try? FileManager.default.removeItem(atPath: shop.path + ending)
        }
        let end = ContinuousClock.now + .seconds(300)
        while !shop.inspect("history").output.contains("created"), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(!held.isCallPermitted)
        return shop
    }

    @Test func everyViewShowsIt() async throws {
        let shop = try await self.shopThatLostItsFile()
        let doctor = shop.inspect("doctor")
        #expect(doctor.code == .failed)
        let text = doctor.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: " ")
        #expect(text.contains("in place of a removed file. 2 holds and "), "\(text)")
        let advice = "-> 'breaker-inspect list' shows the holds"
        #expect(text.contains("were restored by live workers; the history is gone \(advice)"), "\(text)")

        let show = shop.inspect("show", "d held open").output
        #expect(show.contains("in place of a removed file: see 'breaker-inspect doctor'"), "\(show)")
        #expect(show.contains("state restored"), "\(show)")

        let json = shop.inspect("show", "d held open", "--json").output
        #expect(json.contains(#""inPlaceOf":"in place of a removed file""#), "\(json)")
        #expect(json.contains(#""restoredHolds":2"#), "\(json)")

        let metrics = shop.inspect("metrics", "--store", "shop=\(shop.path)").output
        let created = Int(shop.clock.wallTime.timeIntervalSince1970)
        #expect(metrics.contains("breaker_store_created_timestamp_seconds{store=\"shop\"} \(created)\n"), "\(metrics)")
    }

    /// Garbage in the database may hide nothing that its log still has: then live workers restore open states, too.
    @Test func whatWasRestoredIsNotGone() async throws {
        let shop = try await self.shopThatLostItsFile()
        var examination = try StoreFiles(path: shop.path).examine(shop.clock)
        examination.creation?.replacement?.isDamaged = true
        let some = try #require(ContentChecks(examination: examination).creation(kept: nil))
        #expect(some.finding.hasSuffix("were restored by live workers; the history is gone"), "\(some)")
        examination.creation?.replacement?.restoredOpenStates = 0
        let none = try #require(ContentChecks(examination: examination).creation(kept: nil))
        #expect(none.finding.hasSuffix("2 holds were restored by live workers; open states and the history are gone"))
    }

    /// An operator has seen it, or a day has passed.
    @Test(arguments: ["reset", "day"]) func theDoctorForgetsIt(end: String) async throws {
        let shop = try await self.shopThatLostItsFile()
        #expect(shop.inspect("doctor").output.contains("in place of a removed file"))
        if end == "reset" {
            let reset = shop.inspect("reset", "d held open", "--yes")
            #expect(reset.code == .done, "\(reset.talk)")
        } else {
            (shop.clock as? ManualHostClock)?.advance(by: .seconds(86_400))
        }
        #expect(!shop.inspect("doctor").output.contains("in place of a removed file"))
        #expect(!shop.inspect("show", "d held open").output.contains("in place of"))
    }

    /// A store that was simply created says no more than when.
    @Test func aNewStoreIsInPlaceOfNone() throws {
        let shop = try Shop()
        try shop.circuit("a")
        #expect(!shop.inspect("doctor").output.contains("in place of"))
        #expect(shop.inspect("show", "a", "--json").output.contains(#""inPlaceOf":null"#))
    }

    /// A release before 0.5.1 has created it, and only such workers live: the tool reads it all the same.
    @Test func aFileOfSchema20HasNoCreation() throws {
        let shop = try Shop(of: "2.0")
        #expect(shop.inspect("show", "closed", "--json").output.contains(#""created":null"#))
        #expect(shop.inspect("doctor").output.contains("2.0, this tool knows \(Versions.schema)"))
        let metrics = shop.inspect("metrics", "--store", "shop=\(shop.path)").output
        #expect(metrics.contains("breaker_store_up{store=\"shop\"} 1\n"))
        #expect(!metrics.contains("breaker_store_created_timestamp_seconds{"))
    }
}
