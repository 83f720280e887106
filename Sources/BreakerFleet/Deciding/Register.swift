import BreakerStore

/// The row of a circuit at the server, as a link read it: in durations, because hosts' clocks are never compared.
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
    /// How long ago the register entered its state.
    var age: Int64
    /// When the register entered its state, by the server's clock; compared only with the stamps of words.
    var since: Int64 = 0
    /// How long an open circuit still refuses calls; 0 when a probe is due.
    var left: Int64 = 0
    /// The whole time for which the circuit was opened.
    var openFor: Int64 = 0
    var trips: Int = 0
    /// Why it is in this state, and which operator said so, if one did.
    var reason: String?
    var by: String?
    /// Operators' words: the newest hold or release, and the newest reset.
    var words: [LinkWord] = []
    /// The kinds of words that the server has with a damaged stamp: no host takes them over.
    var damagedWords: [LinkWord.Kind] = []
    var lease: Lease?

    func word(_ kind: LinkWord.Kind) -> LinkWord? { self.words.first { $0.kind == kind } }

    /// The hold that is in force.
    var hold: LinkWord? {
        guard let word = self.word(.hold), word.hold != nil, word.left != 0 else { return nil }
        guard let reset = self.word(.reset)?.stamp, let stamp = word.stamp else { return word }
        return stamp > reset ? word : nil
    }
}

/// What the server has counted of all hosts for one circuit, in the windows of this host's own rules.
struct Count: Sendable, Hashable {
    /// The register's generation at the time of the count.
    var generation: Int64
    var failures: Int64 = 0
    /// How many hosts have failures.
    var hosts: Int = 0
    var failed = LinkedCircuit.Sum(calls: 0, bad: 0)
    /// How many hosts have failed calls within the window.
    var failedHosts: Int = 0
    var slow = LinkedCircuit.Sum(calls: 0, bad: 0)
    var slowHosts: Int = 0
}
