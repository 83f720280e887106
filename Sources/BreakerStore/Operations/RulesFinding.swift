/// A circuit's stored rules that this release does not know completely.
package struct RulesFinding: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Members that this release does not know, by their paths: it ignores and keeps them.
        case unknownMembers([String])
        /// Rules of a later release; this release must not obey only the part that it knows.
        case ofLaterRelease(String)
        /// A text that this release can't read, and that no later release has marked as its own.
        case unreadable(String)
    }

    package var circuit: String
    package var kind: Kind

    init?(_ circuit: StoredCircuit) {
        self.circuit = circuit.name
        switch circuit.row.circuit.rules.stored {
        case .asRules: return nil
        case .more(let text): self.kind = .unknownMembers(RulesText.unknownMembers(of: Array(text.utf8)))
        case .ofLaterRelease(_, let why): self.kind = .ofLaterRelease(why)
        case .unreadable(_, let why): self.kind = .unreadable(why)
        }
    }
}
