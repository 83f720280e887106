#if PostgreSQL
import BreakerStore

/// What a link has done to a circuit, for a log.
package struct FleetNews: Sendable, Hashable, CustomStringConvertible {
    package var circuit: String
    package var text: String

    package var description: String { "\(self.circuit.quoted) \(self.text)" }

    /// News of a damaged row at the server, with numbers that no host can beat.
    init(ofDamage circuit: String) {
        self.circuit = circuit
        self.text = "had a row at the server that made no sense: the hosts write it anew"
    }

    /// News of a command at the server whose stamp is damage.
    init(ofDamaged kind: LinkWord.Kind, on circuit: String) {
        self.circuit = circuit
        self.text =
            "has a \(kind) at the server whose date makes no sense: no host obeys it, and the next one replaces it"
    }

    /// News of an order that the file has obeyed; nil for repeated ones.
    init?(_ order: LinkOrder, on circuit: String, by who: String, reason: String?) {
        let why = reason.map { ": \($0.escaped)" } ?? ""
        let person =
            who == LinkOrder.fleet ? "the fleet" : who.dropFirst("\(LinkOrder.fleet): ".count).description.escaped
        let text: String? =
            switch order {
            // Without a reason the order only stops the probes of a half-open circuit.
            case .open: reason.map { "is opened by \(person): \($0.escaped)" }
            case .close: "is closed by \(person)\(why)"
            case .obey(let word, _, _): "is \(word.inWords) by \(person)\(why)"
            case .extend, .probe, .stamp: nil
            }
        guard let text else { return nil }
        self.circuit = circuit
        self.text = text
    }

    /// News of a request that the server has accepted; nil for repeated ones.
    init?(_ request: Request, on circuit: String) {
        let text: String? =
            switch request {
            case .trip(_, let openFor, let reason):
                "trips on all hosts for \(Duration.microseconds(openFor).readable): \(reason.escaped)"
            case .elect: "may probe here"
            case .verdict(_, .closed, _): "is closed on all hosts: the probe here succeeded"
            case .verdict(_, .open(let left), _):
                "stays open on all hosts for \(Duration.microseconds(left).readable): the probe here failed"
            case .tell(let word): "is \(word.inWords) on all hosts\(word.by.map { " by \($0.escaped)" } ?? "")"
            case .offer: "was lost by the server, which is told of it anew"
            case .renew, .yield: nil
            }
        guard let text else { return nil }
        self.circuit = circuit
        self.text = text
    }
}

extension LinkWord {
    fileprivate var inWords: String {
        switch (self.kind, self.hold) {
        case (.reset, _): "reset"
        case (.probe, _): "let probe"
        case (.hold, nil): "released"
        case (.hold, let state?):
            "held \(state.rawValue)" + (self.left.map { " for \(Duration.microseconds($0).readable)" } ?? "")
        }
    }
}
#endif
