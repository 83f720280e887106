extension CircuitBreaker.Config {
    /// Reads rules that a person has written as JSON: the members of a configuration, of which each may be missing.
    ///
    /// Strict, unlike the rules in a file, where members of a later release are kept: a member that this release does
    /// not know is an error, and so is a name other than `name`. Throws `invalidConfiguration` with what is wrong.
    package init(name: String, json text: String) throws(BreakerStoreError) {
        // What the members of the rules are without those that the rules in a file do not have.
        var rules: [String] = []
        var others = Others(name: name)
        for member in try Self.members(of: text) where try !others.read(member) {
            let key = String(decoding: member.keyText, as: UTF8.self)
            rules.append(key + ":" + String(decoding: member.value.text, as: UTF8.self))
        }
        if !others.hasTrip { rules.append(Self.defaultTrip) }
        switch RulesText.decode(Array("{\(rules.joined(separator: ","))}".utf8)) {
        case .understood(let rules, let unknown):
            if let first = unknown.first { throw Self.error("has an unknown member \(first.quoted)") }
            self.init(name: name, group: others.group, rules: rules)
            self.mode = others.mode
            try self.validate()
        case .ofLaterRelease(let what): throw Self.error("has \(what), which this release does not know")
        case .unreadable(let why): throw Self.error("is not valid: \(why)")
        }
    }

    private static let defaultTrip = #""trip":{"rule":"failures","count":5,"windowMicroseconds":60000000}"#

    /// The members that are no rules.
    private struct Others {
        let name: String
        var group: String?
        var mode = CircuitMode.enforcing
        var hasTrip = false

        /// Reads the member if it is one of them; returns whether it is.
        mutating func read(_ member: ScannedMember) throws(BreakerStoreError) -> Bool {
            let text = member.value.string
            switch member.name {
            case "trip": self.hasTrip = true
            case "name":
                guard let text else {
                    throw CircuitBreaker.Config.error("has a name that is \(member.value.description), not a text")
                }
                guard text.utf8.elementsEqual(self.name.utf8) else {
                    throw CircuitBreaker.Config.error("names another circuit, \(text.quoted): leave the name out")
                }
                return true
            case "group":
                guard let text else {
                    throw CircuitBreaker.Config.error("has a group that is \(member.value.description), not a text")
                }
                self.group = text
                return true
            case "mode":
                guard let mode = text.flatMap(CircuitMode.init(rawValue:)) else {
                    throw CircuitBreaker.Config.error("has an unknown mode: write \"enforcing\" or \"observing\"")
                }
                self.mode = mode
                return true
            default: break
            }
            return false
        }
    }

    private static func members(of text: String) throws(BreakerStoreError) -> [ScannedMember] {
        let value: ScannedValue
        do throws(JSONTextError) {
            value = try JSONScanner.value(of: Array(text.utf8))
        } catch let problem {
            throw Self.error("is no JSON: \(problem.description)")
        }
        guard let members = value.members else { throw Self.error("is \(value.description), not an object") }
        return members
    }

    private static func error(_ problem: String) -> BreakerStoreError {
        BreakerStoreError(code: .invalidConfiguration, message: "the JSON \(problem)")
    }

    /// Throws `invalidConfiguration` if the configuration is not valid.
    package func check() throws(BreakerStoreError) { try self.validate() }

    /// The differences of these rules from `stored`, for people; empty without one.
    package func differences(from stored: CircuitBreaker.Config) -> String { self.changes(from: stored) }
}
