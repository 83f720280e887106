#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerFleet

/// What a person does on any host reaches all.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OperatorTests {
    @Test func aHoldForATimeEndsOnAllHosts() async throws {
        try await Fleet.with(3) { hosts, database in
            try synchronously {
                try hosts[0].store.hold("api", .open, for: .seconds(3), by: "ann", reason: "a move")
            }
            try await Fleet.wait("all are held") { hosts.allSatisfy(\.isHeld) }
            for host in hosts.dropFirst() {
                let hold = try #require(try host.snapshot()?.hold)
                #expect(hold.state == .open)
                #expect(hold.by == "fleet: ann")
                #expect(hold.reason == "a move")
                let length = try #require(hold.until).timeIntervalSince(hold.since)
                #expect((1...3.001).contains(length))
                #expect(!host.call())
            }
            // By each host's own clock, however slow this machine is.
            let ends = try hosts.map { try #require(try $0.snapshot()?.hold?.until) }
            let ended = try await Fleet.wait("no host is held") {
                for (number, host) in hosts.enumerated() {
                    let isOver = OtherHostClock(number: number).wallTime > ends[number].addingTimeInterval(0.2)
                    if isOver { #expect(!host.isHeld) }
                }
                return hosts.allSatisfy { !$0.isHeld }
            }
            print("the hold had ended on all hosts after \(ended) s")
            try await Task.sleep(for: .milliseconds(1_200))
            for host in hosts {
                #expect(host.call())
                #expect(try host.events(.held).count == 1)
            }
        }
    }

    /// It was meant for this host alone, perhaps: before a host joins for the first time, such a hold must be released.
    @Test func aHostThatJoinsBringsItsHoldAlong() async throws {
        let directory = try Directory.make("breakerstore-fleet")
        defer { Directory.remove(directory) }
        var configuration = CircuitStore.Configuration.patient
        configuration.clock = OtherHostClock(number: 1)
        let store = try CircuitStore(path: directory + "/circuits.db", configuration: configuration)
        _ = try synchronously { try store.breaker(FleetHost.config()) }
        try synchronously { try store.hold("api", .open, by: "ann", reason: "this host moves") }
        store.close()
        let database = try await TestDatabase()
        let old = try FleetHost(0, database.connection)
        try await Fleet.ending([old]) {
            try await Fleet.wait("the other host is joined") { old.isJoined }
            let new = try FleetHost(1, database.connection, in: directory)
            try await Fleet.ending([new]) {
                try await Fleet.wait("both are held") { old.isHeld && new.isHeld }
                #expect(try old.snapshot()?.hold?.by == "fleet: ann")
                #expect(try old.snapshot()?.hold?.reason == "this host moves")
            }
        }
    }

    /// `String` takes them for one; the file and the server do not.
    @Test func twoSpellingsOfANameAreTwoCircuits() async throws {
        try await Fleet.with(2) { hosts, _ in
            let names = ["caf\u{e9}", "cafe\u{301}"]
            func isHeld(_ host: FleetHost, _ name: String) -> Bool {
                (try? host.store.circuit(named: name))?.hold != nil
            }
            for host in hosts {
                for name in names { _ = try host.store.breaker(.init(name: name)) }
            }
            for (number, name) in names.enumerated() {
                try synchronously { try hosts[0].store.hold(name, .open, by: "ann", reason: "a move") }
                try await Fleet.wait("the other host holds it") { isHeld(hosts[1], name) }
                #expect(hosts.allSatisfy { number == 1 || !isHeld($0, names[1]) })
            }
        }
    }

    /// A link that starts anew, as in an upgrade, obeys what the fleet says by now: an old reset was meant for another
    /// outage than the one that its host has found since.
    @Test func anOldResetLeavesALaterTripAlone() async throws {
        let database = try await TestDatabase()
        let other = try FleetHost(1, database.connection)
        let service = try FleetHost(0, database.connection, config: FleetHost.config(recovery: .seconds(600)))
        try await Fleet.ending([service, other]) {
            try await Fleet.wait("both are joined") { service.isJoined && other.isJoined }
            service.fail(1)
            try synchronously { try other.store.reset("api", by: "ann", reason: "it is well") }
            try await Fleet.wait("both are reset") { try service.events(.reset).count == 1 }
            service.fail(5)
            #expect(service.isOpen)
            service.link.close()
            let next = try FleetHost(0, database.connection, in: service.directory)
            try await Fleet.ending([next]) {
                try await Fleet.wait("the next link is joined") { next.isJoined }
                // What is obeyed first is obeyed by then.
                try synchronously { try other.store.hold("api", .open, by: "ann") }
                try await Fleet.wait("the hold has come") { next.isHeld }
                try synchronously { try other.store.release("api", by: "ann") }
                try await Fleet.wait("the hold is over") { !next.isHeld }
                #expect(service.isOpen)
                #expect(try service.events(.reset).count == 1)
            }
        }
    }

    /// Under a rule of a share, too, a reset is the end of what all hosts have counted.
    @Test func aResetForgetsTheRatesOfAllHosts() async throws {
        let config = CircuitBreaker.Config(
            name: "api", trip: .failureRate(0.5, minimumCalls: 10, within: .seconds(600)),
            recovery: RecoveryRule(timeout: .seconds(600)))
        try await Fleet.with(2, config: config) { hosts, database in
            func waitForCalls(_ number: Int64) async throws {
                try await Fleet.wait("\(number) calls are told") {
                    try database.number("SELECT coalesce(sum(failed_calls), 0) FROM fleet.rate") == number
                }
            }
            for host in hosts { host.fail(4) }
            try await waitForCalls(8)
            try synchronously { try hosts[1].store.reset("api", by: "ann") }
            try await Fleet.wait("both are reset") { try hosts.allSatisfy { try $0.events(.reset).count == 1 } }
            #expect(try hosts[0].events(.reset).map(\.by) == ["fleet: ann"])
            try await waitForCalls(0)
            for host in hosts { host.fail(4) }
            try await waitForCalls(8)
            #expect(hosts.allSatisfy { !$0.isOpen })
            for host in hosts { host.fail(1) }
            try await Fleet.wait("both are open") { hosts.allSatisfy(\.isOpen) }
        }
    }

    /// The same where the reset was said, when the connection is another one: the link says its words once more.
    @Test func anOldResetThatIsSaidOnceMoreLeavesALaterTripAlone() async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(600))) { hosts, database in
            hosts[0].fail(1)
            try synchronously { try hosts[0].store.reset("api", by: "ann") }
            try await Fleet.wait("the reset is told") {
                try database.number("SELECT count(*) FROM fleet.circuit WHERE reset_said IS NOT NULL") == 1
            }
            hosts[0].fail(5)
            #expect(hosts[0].isOpen)
            try database.connect().endOthers()
            try await Fleet.wait("both were cut off") { hosts.allSatisfy(\.wasCutOff) }
            try await Fleet.wait("both are joined") { hosts.allSatisfy(\.isJoined) }
            try synchronously { try hosts[1].store.hold("api", .open, by: "ann") }
            try await Fleet.wait("the hold has come") { hosts[0].isHeld }
            try synchronously { try hosts[1].store.release("api", by: "ann") }
            try await Fleet.wait("the hold is over") { !hosts[0].isHeld }
            #expect(hosts[0].isOpen)
            #expect(try hosts[0].events(.reset).count == 1)
        }
    }

    /// Of several people, the history names the one who did it.
    @Test func aReleaseNamesWhoReleased() async throws {
        try await Fleet.with(2, config: FleetHost.config(recovery: .seconds(60))) { hosts, database in
            try await Fleet.trip(hosts)
            try synchronously { try hosts[0].store.probe("api", by: "ann", reason: "try it") }
            try synchronously { try hosts[0].store.hold("api", .closed, by: "ann", reason: "a move") }
            try await Fleet.wait("both are held") { hosts.allSatisfy(\.isHeld) }
            try synchronously { try hosts[1].store.release("api", by: "bob", reason: "done with it") }
            try await Fleet.wait("nobody is held") { hosts.allSatisfy { !$0.isHeld } }
            let event = try #require(try hosts[0].events(.released).first)
            #expect(event.by == "fleet: bob")
            #expect(event.reason == "done with it")
        }
    }

    @Test func aProbeThatAnOperatorAllowsClosesAll() async throws {
        try await Fleet.with(3, config: FleetHost.config(recovery: .seconds(60))) { hosts, database in
            try await Fleet.trip(hosts)
            #expect(hosts.allSatisfy { !$0.call() })
            try synchronously { try hosts[2].store.probe("api", by: "ann", reason: "try now") }
            try await Fleet.wait("the right to probe is the operator's host's") {
                try database.number("SELECT count(*) FROM fleet.circuit WHERE lease_host = 'h2'") == 1
            }
            #expect(!hosts[0].call())
            #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE said_by = 'ann'") == 1)
            #expect(hosts[2].call())
            try await Fleet.wait("all are closed") { hosts.allSatisfy { !$0.isOpen } }
            for host in hosts.dropLast() { #expect(try host.events(.closed).map(\.by) == ["fleet"]) }
        }
    }

    @Test func aHoldOutlivesAFleetsCloseAtTheSameMoment() async throws {
        try await Fleet.with(3, config: FleetHost.config(recovery: .milliseconds(200))) { hosts, database in
            for round in 0..<8 {
                try await Fleet.trip(hosts)
                let (isProbed, isHeld) = (Locked(false), Locked(false))
                _ = try await Threads { number in
                    let patience = ContinuousClock.now + .hangLimit
                    func wait(for flag: Locked<Bool>) {
                        while !flag.withLock({ $0 }), ContinuousClock.now < patience {}
                    }
                    guard number == 0 else {
                        wait(for: isProbed)
                        try synchronously { try hosts[2].store.hold("api", .open, by: "ann") }
                        return true
                    }
                    while !isHeld.withLock({ $0 }), ContinuousClock.now < patience {
                        hosts[0].call {
                            isProbed.withLock { $0 = true }
                            isHeld.withLock { $0 = true }
                        }
                    }
                    return true
                }.run(2)
                try await Fleet.wait("all are held in round \(round)") { hosts.allSatisfy(\.isHeld) }
                try await Task.sleep(for: .milliseconds(300))
                #expect(hosts.allSatisfy { $0.isHeld })
                #expect(try database.number("SELECT count(*) FROM fleet.circuit WHERE hold = 'open'") == 1)
                try synchronously { try hosts[1].store.reset("api", by: "bob") }
                try await Fleet.wait("all are closed in round \(round)") { hosts.allSatisfy { !$0.isOpen } }
            }
        }
    }
}
#endif
