import BreakerStore

/// What PostgreSQL holds of a circuit, as it was read: in durations, for no clock of a host is compared with another's.
struct Register: Sendable, Hashable {
    enum State: String, Sendable, Hashable { case closed, open }

    /// The right to probe.
    struct Lease: Sendable, Hashable {
        var host: String
        var left: Int64

        func isOf(_ host: String) -> Bool { ExactName(self.host) == ExactName(host) }
    }

    var name: String
    /// The highest wins; it rises with each change of the state.
    var generation: Int64
    var state: State
    /// How long ago the state was entered.
    var age: Int64
    /// When the state was entered, by the server's clock: nothing but the stamp of a word is compared with it.
    var since: Int64 = 0
    /// For how long an open circuit refuses calls yet; 0 when a probe is due.
    var left: Int64 = 0
    /// For how long it was opened in all.
    var openFor: Int64 = 0
    var trips: Int = 0
    /// Why it is in this state, and who said so if a person did.
    var reason: String?
    var by: String?
    /// What people have said: the newest hold or release, and the newest reset.
    var words: [LinkWord] = []
    var lease: Lease?

    func word(_ kind: LinkWord.Kind) -> LinkWord? { self.words.first { $0.kind == kind } }

    /// The hold that is in force.
    var hold: LinkWord? {
        guard let word = self.word(.hold), word.hold != nil, word.left != 0 else { return nil }
        guard let reset = self.word(.reset)?.stamp, let stamp = word.stamp else { return word }
        return stamp > reset ? word : nil
    }
}

/// What was counted of all hosts for one circuit, in the windows of this host's own rules.
struct Count: Sendable, Hashable {
    /// The generation of the register when it was counted.
    var generation: Int64
    var failures: Int64 = 0
    /// Hosts that have failures.
    var hosts: Int = 0
    var failed = LinkedCircuit.Sum(calls: 0, bad: 0)
    /// Hosts that have failed calls within the window.
    var failedHosts: Int = 0
    var slow = LinkedCircuit.Sum(calls: 0, bad: 0)
    var slowHosts: Int = 0
}
