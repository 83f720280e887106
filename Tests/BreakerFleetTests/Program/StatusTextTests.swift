#if PostgreSQL
import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import BreakerFleet
@testable import breaker_fleet

/// What `status` prints on a terminal of 80 columns.
@Suite struct StatusTextTests {
    private static let second: Int64 = 1_000_000

    private static func host(
        _ name: String, beat: Int64 = 0, trouble: String? = nil, left: Int64? = nil
    )
        -> FleetStatus.Host
    {
        FleetStatus.Host(
            name: name, storedName: name, program: "breaker-fleet 0.6.1 (4242)", session: "1", file: "f", beat: beat,
            circuits: 12, trouble: trouble, troubleFor: trouble.map { _ in 5 * Self.second }, leftFor: left)
    }

    private static func text(
        _ hosts: [FleetStatus.Host], _ registers: [Register] = [], own: [FleetStatus.OwnTrip] = []
    ) -> String {
        let circuits = registers.map { FleetCircuit($0) }
        let status = FleetStatus(
            fleet: "default", lag: 2_000, hosts: hosts, circuits: circuits, ownTrips: own, differing: [])
        return StatusText(status: status, shown: circuits.filter { !$0.isPlainlyClosed })
            .text(width: 80, Style(isColored: false))
    }

    @Test func allIsWell() {
        #expect(
            Self.text([Self.host("web-1"), Self.host("web-2")]) == """
                fleet default: 2 joined, 0 circuits, answered in 2 ms

                HOST   LINK      HEARD  CIRCUITS  PROGRAM
                web-1  joined  0 s ago        12  breaker-fleet 0.6.1 (4242)
                web-2  joined  0 s ago        12  breaker-fleet 0.6.1 (4242)

                """)
    }

    @Test func whatIsCutOffOrHasLeftIsSaid() {
        let refused = "can't send a change to the server: permission denied for table circuit (42501)"
        let text = Self.text([
            Self.host("web-1"), Self.host("web-2", trouble: refused), Self.host("web-3", beat: 40 * Self.second),
            Self.host("web-4", beat: 40 * Self.second, trouble: refused),
            Self.host("web-5", beat: 300_000 * Self.second, left: 299_995 * Self.second),
        ])
        #expect(text.hasPrefix("fleet default: 1 joined, 3 cut off, 1 left, 0 circuits, "), "\(text)")
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(text.contains("web-3  cut off  40 s ago"), "\(text)")
        #expect(text.contains("    joined; silent since then\n"), "\(text)")
        #expect(text.contains("web-5  left      3 d ago         -"), "\(text)")
        #expect(text.contains("a host that does not come back is listed until 'breaker-fleet forget HOST'\n"))
    }

    @Test func longNamesAreNeverCut() {
        let name = "web-01.eu-central-1.example.com:/var/lib/shop/circuits/breakers.db"
        let text = Self.text(
            [Self.host(name), Self.host("b", beat: 40 * Self.second)],
            own: [.init(circuit: "payments@zone-a", host: name, isHalfOpen: false, age: 60 * Self.second)])
        #expect(text.components(separatedBy: name).count == 3, "\(text)")
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test func holdsHaveTheirOwnSince() {
        var held = Register(name: "mail", generation: 7, state: .closed, age: 9 * 86_400 * Self.second)
        held.commands = [
            OperatorCommand(
                kind: .hold, number: 1, lamportTime: 5, age: 3 * 86_400 * Self.second, hold: .open, by: "ann",
                reason: "INC-1")
        ]
        let text = Self.text([Self.host("a")], [held])
        #expect(text.contains("mail     held-open  3 d ago      0  -      ann: INC-1\n"), "\(text)")
    }

    @Test func whatSingleHostsHaveOpenedIsListed() {
        let open = Register(name: "api", generation: 7, state: .open, age: 5)
        let trips = ["api", "db"].map {
            FleetStatus.OwnTrip(
                circuit: $0, host: "web-2", isHalfOpen: $0 == "db", age: 90 * Self.second, lastError: "503")
        }
        let text = Self.text([Self.host("web-1")], [open], own: trips)
        #expect(text.contains(", 1 circuit, 1 open, 1 open on single hosts, "), "\(text)")
        #expect(
            text.hasSuffix(
                """

                open on single hosts, by their own rules:
                CIRCUIT  HOST   STATE         SINCE  LAST ERROR
                db       web-2  half-open  90 s ago  503

                """), "\(text)")
    }
}
#endif
