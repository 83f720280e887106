/// The rules of a circuit as one JSON text, which programs of any release and language read and write.
///
/// The text has the members of the public configuration without name, group and mode, with sorted keys and without
/// spaces. Rules are compared by value: another program may write the same rules differently. A release ignores members
/// that it does not know, and keeps them when it writes. But if the key of such a member begins with `!`, it changes
/// what the others mean, and the release must not use the rules.
enum RulesText {
    /// What a text means to this release.
    enum Decoded: Hashable, Sendable {
        /// Valid rules, and the paths of the members that this release doesn't know, as in `unknownMembers`.
        case understood(Rules, unknown: [String])
        /// A later release wrote a member that this one must not ignore; `what` describes it, for people.
        case ofLaterRelease(what: String)
        /// The text can't be read, and no later release has marked it as its own; the reason is for people.
        case unreadable(why: String)
    }

    /// Reads the text of a circuit's rules, in which any program may have written anything.
    static func decode(_ text: [UInt8]) -> Decoded {
        // The name only completes the configuration, which has the defaults and the allowed values.
        var config = CircuitBreaker.Config(name: "-")
        let object = RulesObject(text, isWriting: false) { $0.pass(&config) }
        // Before the values: a later release may have changed what is allowed.
        if let what = object.later { return .ofLaterRelease(what: what) }
        if let why = object.complaint { return .unreadable(why: why) }
        do throws(BreakerStoreError) {
            try config.validate()
        } catch {
            return .unreadable(why: error.message)
        }
        return .understood(Rules(config), unknown: object.unknown)
    }

    /// The paths of the members that this release doesn't know, such as `recovery.growth`, in the order of their bytes.
    ///
    /// Empty for a text that is no JSON object. The keys are as they were written, with any characters in them.
    static func unknownMembers(of text: [UInt8]) -> [String] {
        var config = CircuitBreaker.Config(name: "-")
        return RulesObject(text, isWriting: false) { $0.pass(&config) }.unknown
    }

    /// Writes rules, which must have been validated, over the text that a circuit has.
    ///
    /// Members of that text that this release doesn't know stay as they are, byte for byte: a later release wrote them,
    /// and may be running beside this one. They are dropped if the new text would be too long to be read with them, and
    /// those of `slow` are dropped with the rule. A text that is no JSON object is ignored.
    static func encode(_ rules: Rules, over old: [UInt8] = Array("{}".utf8)) -> String {
        var config = CircuitBreaker.Config(name: "-", group: nil, rules: rules)
        let text = RulesObject(old, isWriting: true) { $0.pass(&config) }.text
        return text.utf8.count <= JSONScanner.maxBytes ? text : self.encode(rules)
    }
}

extension RulesObject {
    /// Reads or writes all members.
    fileprivate mutating func pass(_ config: inout CircuitBreaker.Config) {
        self.object("trip", isRequired: true) { $0.pass(&config.trip) }
        var slow = config.slow ?? SlowCallRule(longerThan: .zero)
        self.object("slow", isWritten: config.slow != nil) {
            $0.duration("thresholdMicroseconds", &slow.threshold, isRequired: true)
            $0.number("share", &slow.share)
            $0.count("minimumCalls", &slow.minimumCalls)
            $0.duration("windowMicroseconds", &slow.window)
            config.slow = slow
        }
        self.object("recovery") {
            $0.duration("timeoutMicroseconds", &config.recovery.timeout)
            $0.number("multiplier", &config.recovery.multiplier)
            $0.duration("capMicroseconds", &config.recovery.cap)
            $0.number("jitter", &config.recovery.jitter)
            $0.duration(
                "outageCapMicroseconds", &config.recovery.outageCap, omitting: RecoveryRule.defaultOutageCap)
        }
        self.object("probes") {
            $0.count("limit", &config.probes.limit)
            $0.count("successesToClose", &config.probes.successesToClose)
            $0.duration("leaseMicroseconds", &config.probes.lease)
            $0.count("growth", &config.probes.growth, omitting: 1)
            $0.number("toleratedShare", &config.probes.toleratedShare, omitting: 0)
        }
        self.count("minimumReporters", &config.minimumReporters)
    }

    private mutating func pass(_ rule: inout TripRule) {
        var word = rule.word
        var (count, window) = (rule.count ?? 0, rule.window ?? .zero)
        var (share, calls) = (rule.share ?? 0, rule.minimumCalls ?? 0)
        self.word("rule", &word)
        switch word {
        case .failures:
            self.count("count", &count, isRequired: true)
            self.duration("windowMicroseconds", &window, isRequired: true)
            rule = .failures(count, within: window)
        case .consecutiveFailures:
            self.count("count", &count, isRequired: true)
            rule = .consecutiveFailures(count)
        case .failureRate:
            self.number("share", &share, isRequired: true)
            self.count("minimumCalls", &calls, isRequired: true)
            self.duration("windowMicroseconds", &window, isRequired: true)
            rule = .failureRate(share, minimumCalls: calls, within: window)
        // No circuit can be registered with such a rule.
        case nil: break
        }
        // Members of this release's other rules are known, and not read.
        for key in ["count", "minimumCalls", "share", "windowMicroseconds"] as [StaticString] { self.removeMember(key) }
    }
}
