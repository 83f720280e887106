import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What the tool tells of the link that joins a store with those of other hosts.
@Suite(.timeLimit(.minutes(10))) struct LinkTests {
    private let shop: Shop
    private let seat: LinkSeat

    init() throws {
        self.shop = try Shop()
        try self.shop.circuit("api")
        self.seat = LinkSeat(of: self.shop.store)
    }

    /// A link has the seat, and says something; its process is this one, if none is given.
    private func link(isJoined: Bool, _ reason: String = "", pid: Int32 = ProcessInfo.processInfo.processIdentifier) {
        #expect(self.seat.take())
        let since = self.shop.clock.wallTime.addingTimeInterval(-300)
        self.shop.store.note(LinkNote(isJoined: isJoined, since: since, pid: pid, reason: reason))
    }

    private func openByFleet() throws {
        let epoch = try #require(try self.shop.store.linkedCircuits(matching: "api").first?.epoch)
        _ = try #require(
            try self.shop.store.obey(
                .open(for: 30_000_000, trips: 1), on: "api", ifEpoch: epoch, by: LinkOrder.fleet,
                reason: "5 failures of 2 hosts"))
    }

    @Test func saysNothingWithoutALink() {
        for verb in [["list"], ["show", "api"], ["workers"], ["doctor"]] {
            let (_, output, talk) = self.shop.inspect(arguments: verb)
            #expect(!output.contains("link") && !output.contains("fleet"), "\(output)")
            #expect(talk.isEmpty)
        }
        #expect(!self.shop.inspect("metrics").output.contains("\nbreaker_link"))
        #expect(self.shop.inspect("workers", "--json").output.contains("\"link\":null"))
    }

    @Test func showsThatACircuitWaitsForTheFleet() throws {
        self.link(isJoined: true)
        try self.openByFleet()
        let shown = self.shop.inspect("show", "api").output
        #expect(shown.contains("by fleet: 5 failures of 2 hosts"), "\(shown)")
        #expect(shown.contains("fleet     joined with the other hosts since "), "\(shown)")
        #expect(
            shown.contains("the circuit waits for the fleet; without news, this host probes in 30 s"),
            "\(shown)")
        #expect(self.shop.inspect("list").talk.isEmpty)
        #expect(self.shop.inspect("workers").output.contains("LINK"))
        let doctor = self.shop.inspect("doctor", "--json")
        #expect(doctor.code == .done)
        #expect(doctor.output.contains("joined with the other hosts since"), "\(doctor.output)")
        let metrics = self.shop.inspect("metrics").output
        #expect(metrics.contains("breaker_link_up{"))
        #expect(metrics.contains("} 1\n# HELP breaker_link_cut_off_seconds"), "\(metrics)")
    }

    @Test func showsSinceWhenTheLinkIsCutOff() throws {
        try self.openByFleet()
        self.link(isJoined: false, "no route to \u{1B}[31mhost")
        let trouble = "cut off from the other hosts since "
        for verb in [["list"], ["workers"]] {
            let talk = self.shop.inspect(arguments: verb).talk
            #expect(talk.hasPrefix(trouble), "\(talk)")
            #expect(talk.contains("(5 min ago), this host guards itself: no route to \\u{1B}[31mhost\n"), "\(talk)")
        }
        let shown = self.shop.inspect("show", "api").output
        #expect(shown.contains("fleet     \(trouble)"), "\(shown)")
        #expect(shown.contains("opened by the fleet; this host probes by itself in 30 s"), "\(shown)")
        #expect(self.shop.inspect("workers").output.contains("cut off"))
        let doctor = self.shop.inspect("doctor")
        #expect(doctor.code == .failed)
        #expect(doctor.output.hasPrefix("link    wrong  \(trouble)"), "\(doctor.output)")
        let metrics = self.shop.inspect("metrics").output
        #expect(metrics.contains("} 300\n"), "\(metrics)")
        #expect(self.shop.inspect("workers", "--json").output.contains("\"health\":\"cut-off\""))
    }

    @Test func showsThatTheLinkWasKilled() throws {
        self.link(isJoined: true)
        self.seat.leave()
        let trouble = "the fleet link is dead: its process \(ProcessInfo.processInfo.processIdentifier) has ended"
        #expect(self.shop.inspect("list").talk.hasPrefix(trouble))
        #expect(self.shop.inspect("doctor").output.hasPrefix("link    wrong  \(trouble)"))
        let metrics = self.shop.inspect("metrics").output
        #expect(metrics.contains("breaker_link_up{"))
        #expect(!metrics.contains("\nbreaker_link_cut_off_seconds"))
        #expect(self.shop.inspect("show", "api", "--json").output.contains("\"health\":\"gone\""))
    }

    #if os(Linux)
    /// A stopped process keeps the seat, and its last report says that it is joined.
    @Test func showsThatTheLinkIsStopped() throws {
        let holder = try LockHolder(self.shop.path, [])
        self.link(isJoined: true, pid: holder.pid)
        #expect(self.shop.inspect("doctor").code == .done)
        try holder.stop()
        let doctor = self.shop.inspect("doctor")
        #expect(doctor.code == .failed)
        let trouble = "the fleet link hangs: its process \(holder.pid) (python3) is stopped; this host guards itself\n"
        #expect(doctor.output.hasPrefix("link    wrong  \(trouble)"), "\(doctor.output)")
        #expect(doctor.output.contains("-> let it go on with 'kill -CONT \(holder.pid)', or end it with"))
    }
    #endif
}
