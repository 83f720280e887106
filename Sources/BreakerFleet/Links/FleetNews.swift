#if PostgreSQL
import BreakerStore

/// A change that a link has made to a circuit, for a log.
package struct FleetNews: Sendable, Hashable, CustomStringConvertible {
    package var circuit: String
    package var text: String

    package var description: String { "\(self.circuit.quoted) \(self.text)" }

    /// News of a damaged row at the server, whose generation no host could exceed.
    init(ofDamage circuit: String) {
        self.circuit = circuit
        self.text = "had an invalid row at the server: the hosts write the row again"
    }

    /// News of a command at the server whose stamp is damaged.
    init(ofDamaged kind: OperatorCommand.Kind, on circuit: String) {
        self.circuit = circuit
        self.text =
            "has a \(kind) at the server with an invalid date: no host obeys it, and the next command replaces it"
    }

    /// News of an order that the file has obeyed; nil for orders of which a log would have many.
    init?(_ order: LinkOrder, on circuit: String, by who: String, reason: String?) {
        let why = reason.map { ": \($0.escaped)" } ?? ""
        let person =
            who == LinkOrder.fleet ? "the fleet" : who.dropFirst("\(LinkOrder.fleet): ".count).description.escaped
        let text: String? =
            switch order {
            // Without a reason, the order only stops the probes of a half-open circuit.
            case .open: reason.map { "is opened by \(person): \($0.escaped)" }
            case .close: "is closed by \(person)\(why)"
            case .obey(let command, _, _): "is \(command.inWords) by \(person)\(why)"
            case .extend, .probe, .stamp: nil
            }
        guard let text else { return nil }
        self.circuit = circuit
        self.text = text
    }

    /// News of a request that the server has accepted; nil for requests of which a log would have many.
    init?(_ request: Request, on circuit: String) {
        let text: String? =
            switch request {
            case .trip(_, let openFor, let reason):
                "trips on all hosts for \(Duration.microseconds(openFor).readable): \(reason.escaped)"
            case .elect: "is probed here"
            case .verdict(_, .closed, _): "is closed on all hosts: the probe here succeeded"
            case .verdict(_, .open(let left), _):
                "stays open on all hosts for \(Duration.microseconds(left).readable): the probe here failed"
            case .send(let command): "is \(command.inWords) on all hosts\(command.by.map { " by \($0.escaped)" } ?? "")"
            case .offer: "was lost by the server: this host sends its state again"
            case .renew, .yield: nil
            }
        guard let text else { return nil }
        self.circuit = circuit
        self.text = text
    }
}

extension OperatorCommand {
    fileprivate var inWords: String {
        switch (self.kind, self.hold) {
        case (.reset, _): "reset"
        case (.probe, _): "probed"
        case (.hold, nil): "released"
        case (.hold, let state?):
            "held \(state.rawValue)" + (self.left.map { " for \(Duration.microseconds($0).readable)" } ?? "")
        }
    }
}
#endif
