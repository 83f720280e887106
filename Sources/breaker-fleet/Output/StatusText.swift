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
        if !self.shown.isEmpty { text += "\n" + self.circuits.text(width: width, style) }
        if !self.status.differing.isEmpty {
            text += "\nhosts judge by different rules:\n" + self.differing.text(width: width, style)
        }
        return text
    }

    private var headline: String {
        let joined = self.status.hosts.count { $0.isJoined && $0.trouble == nil }
        let cutOff = self.status.hosts.count { $0.isJoined && $0.trouble != nil }
        let gone = self.status.hosts.count - joined - cutOff
        let open = self.status.circuits.count { $0.isOpen && $0.hold == nil }
        let held = self.status.circuits.count { $0.hold != nil }
        let parts = [
            "\(joined) joined", cutOff > 0 ? "\(cutOff) cut off" : nil, gone > 0 ? "\(gone) gone" : nil,
            self.status.circuits.count.counted("circuit"),
            open > 0 ? "\(open) open" : nil, held > 0 ? "\(held) held" : nil,
            "answered in \(Duration.microseconds(self.status.lag).readable)",
        ]
        return "fleet \(self.status.fleet.escaped): \(parts.compactMap(\.self).joined(separator: ", "))"
    }

    private static func ago(_ microseconds: Int64) -> String { "\(Duration.microseconds(microseconds).brief()) ago" }

    private var hosts: Table {
        var table = Table(columns: [
            .init(title: "HOST", isName: true), .init(title: "LINK"),
            .init(title: "HEARD", isRightAligned: true), .init(title: "CIRCUITS", isRightAligned: true),
            .init(title: "PROGRAM", minimumWidth: 12, mayStandBelow: true),
        ])
        for host in self.status.hosts {
            table.append([
                .init(text: host.name),
                .init(text: host.word, look: host.isJoined && host.trouble == nil ? .good : .bad),
                .init(text: Self.ago(host.beat)), .init(text: "\(host.circuits)"), .init(text: host.program),
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
                .init(text: circuit.hasAge ? Self.ago(circuit.age) : "-"), .init(text: "\(circuit.trips)"),
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
    /// The link's health, in the words of the link's log.
    fileprivate var word: String {
        guard let trouble = self.trouble else { return self.isJoined ? "joined" : "gone" }
        let time = self.troubleFor.map { ", for \(Duration.microseconds($0).brief())" } ?? ""
        return "\(self.isJoined ? "cut off: the link" : "gone; its last report: the link") \(trouble)\(time)"
    }
}

extension FleetCircuit {
    /// Whether the circuit is closed, and not by a hold.
    var isPlainlyClosed: Bool { !self.isOpen && self.hold == nil }

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
