#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

/// A fleet's status as text for people.
struct StatusText {
    let status: FleetStatus
    let shown: [FleetCircuit]

    func text(width: Int?, _ style: Style) -> String {
        var text = (self.headline + "\n").wrappedLines(to: width)
        if !self.status.hosts.isEmpty { text += "\n" + self.hosts.text(width: width, style) }
        if self.status.hosts.contains(where: { !$0.sendsHeartbeats }) {
            text += "a host that does not come back is listed until '\(FleetProgram.name) forget HOST'\n"
        }
        if !self.shown.isEmpty { text += "\n" + self.circuits.text(width: width, style) }
        let lone = self.status.loneTrips
        if !lone.isEmpty {
            text += "\nopen on single hosts, by their own rules:\n" + Self.table(of: lone).text(width: width, style)
        }
        if !self.status.differing.isEmpty {
            text += "\nhosts judge by different rules:\n" + self.differing.text(width: width, style)
        }
        return text
    }

    private var headline: String {
        let joined = self.status.hosts.count { $0.link == .joined }
        let cutOff = self.status.hosts.count { $0.link == .cutOff }
        let left = self.status.hosts.count { $0.link == .left }
        let lone = Set(self.status.loneTrips.map(\.circuit)).count
        let open = self.status.circuits.count { $0.isOpen && $0.hold == nil }
        let held = self.status.circuits.count { $0.hold != nil }
        let parts = [
            "\(joined) joined", cutOff > 0 ? "\(cutOff) cut off" : nil, left > 0 ? "\(left) left" : nil,
            self.status.circuits.count.counted("circuit"),
            open > 0 ? "\(open) open" : nil, lone > 0 ? "\(lone) open on single hosts" : nil,
            held > 0 ? "\(held) held" : nil,
            "answered in \(Duration.microseconds(self.status.lag).readable)",
        ]
        return "fleet \(self.status.fleet.escaped): \(parts.compactMap(\.self).joined(separator: ", "))"
    }

    private static func ago(_ microseconds: Int64) -> String { "\(Duration.microseconds(microseconds).brief()) ago" }

    private var hosts: Table {
        let hasReports = self.status.hosts.contains { $0.report != nil }
        let program =
            hasReports
            ? Table.Column(title: "PROGRAM", minimumWidth: 12, presence: .whereItFits)
            : Table.Column(title: "PROGRAM", minimumWidth: 12, mayStandBelow: true)
        let reports = Table.Column(title: "LAST REPORT", minimumWidth: 16, mayStandBelow: true)
        var table = Table(
            columns: [
                .init(title: "HOST", isName: true), .init(title: "LINK"),
                .init(title: "HEARD", isRightAligned: true), .init(title: "CIRCUITS", isRightAligned: true), program,
            ] + (hasReports ? [reports] : []))
        for host in self.status.hosts {
            table.append(
                [
                    .init(text: host.name), .init(text: host.word, look: host.look),
                    .init(text: Self.ago(host.heard)),
                    .init(text: host.link == .left ? "-" : "\(host.circuits)"), .init(text: host.program),
                ] + (hasReports ? [.init(text: host.report ?? "")] : []))
        }
        return table
    }

    private static func table(of trips: [FleetStatus.OwnTrip]) -> Table {
        var table = Table(columns: [
            .init(title: "CIRCUIT", isName: true), .init(title: "HOST", isName: true), .init(title: "STATE"),
            .init(title: "SINCE", isRightAligned: true),
            .init(title: "LAST ERROR", minimumWidth: 16, mayStandBelow: true),
        ])
        for trip in trips {
            table.append([
                .init(text: trip.circuit.escaped), .init(text: trip.host), .init(text: trip.word, look: .bad),
                .init(text: self.ago(trip.age)), .init(text: trip.lastError ?? "-"),
            ])
        }
        return table
    }

    private var circuits: Table {
        var table = Table(columns: [
            .init(title: "CIRCUIT", isName: true), .init(title: "STATE"),
            .init(title: "SINCE", isRightAligned: true), .init(title: "TRIPS", isRightAligned: true),
            .init(title: "PROBE"), .init(title: "WHY", minimumWidth: 16, mayStandBelow: true),
        ])
        for circuit in self.shown {
            table.append([
                .init(text: circuit.name.escaped), .init(text: circuit.word, look: circuit.look),
                .init(text: circuit.since.map { Self.ago($0) } ?? "-"), .init(text: "\(circuit.trips)"),
                .init(text: circuit.probe),
                .init(text: circuit.why),
            ])
        }
        return table
    }

    private var differing: Table {
        var table = Table(columns: [
            .init(title: "CIRCUIT", isName: true),
            .init(title: "HOST", isName: true),
            .init(title: "RULE", minimumWidth: 16, mayStandBelow: true),
        ])
        for rule in self.status.differing {
            table.append([
                .init(text: rule.circuit.escaped), .init(text: rule.host), .init(text: rule.rule),
            ])
        }
        return table
    }
}

extension FleetStatus.Host {
    fileprivate var word: String {
        switch self.link {
        case .joined: "joined"
        case .cutOff: "cut off"
        case .left: "left"
        }
    }

    fileprivate var look: Look {
        switch self.link {
        case .joined: .good
        case .cutOff: .bad
        case .left: .plain
        }
    }

    /// What the link of a host that is cut off has said last; nil for other hosts.
    fileprivate var report: String? {
        guard self.link == .cutOff else { return nil }
        let time = self.troubleFor.map { ", for \(Duration.microseconds($0).brief())" } ?? ""
        let report = self.trouble.map { "the link \($0)\(time)" } ?? "joined"
        return self.sendsHeartbeats ? report : "\(report); silent since then"
    }
}

extension FleetStatus.OwnTrip {
    var word: String { self.isHalfOpen ? "half-open" : "open" }
}

extension FleetCircuit {
    /// How long the circuit has been held, or else in its state; nil if it has never changed.
    fileprivate var since: Int64? { self.hold?.age ?? (self.hasAge ? self.age : nil) }

    /// The state, in the words of `breaker-inspect`.
    var word: String {
        if let hold = self.hold { return "held-\(hold.state.rawValue)" }
        return self.isOpen ? "open" : "closed"
    }

    var look: Look {
        if let hold = self.hold { return hold.state == .open ? .bad : .overridden }
        return self.isOpen ? .bad : .good
    }

    fileprivate var probe: String {
        guard self.isOpen, self.hold == nil else { return "-" }
        if let lease = self.lease { return "by \(lease.host.escaped)" }
        return self.left == 0 ? "due" : "in \(Duration.microseconds(self.left).brief(roundsUp: true))"
    }

    fileprivate var why: String {
        if let hold = self.hold {
            let end = hold.left.map { ", for \(Duration.microseconds($0).brief(roundsUp: true)) more" } ?? ""
            return "\(hold.by ?? "an unknown operator")\(hold.reason.map { ": \($0)" } ?? "")\(end)"
        }
        return [self.by, self.reason].compactMap(\.self).joined(separator: ": ")
    }
}
#endif
