import BreakerStore

/// The row of a circuit at the server, as a link read it, with durations, because hosts' clocks are never compared.
struct Register: Sendable, Hashable {
    enum State: String, Sendable, Hashable { case closed, open }

    /// The right to probe.
    struct Lease: Sendable, Hashable {
        var host: String
        var left: Int64

        func isOf(_ host: String) -> Bool { ExactName(self.host) == ExactName(host) }
    }

    var name: String
    /// Increases with each change of the state; of two registers the one with the higher generation wins.
    var generation: Int64
    var state: State
    /// How long ago the register entered its state.
    var age: Int64
    /// When the register entered its state, by the server's clock; compared only with the stamps of commands.
    var since: Int64 = 0
    /// How long an open circuit still refuses calls; 0 when a probe is due.
    var left: Int64 = 0
    /// How long the circuit was opened for in all.
    var openFor: Int64 = 0
    var trips: Int = 0
    /// Why the register is in its state.
    var reason: String?
    /// The operator who set the state, if one did.
    var by: String?
    /// Operators' commands: the newest hold or release, and the newest reset.
    var commands: [OperatorCommand] = []
    /// The kinds of commands that the server has with a damaged stamp; no host obeys them.
    var damagedCommands: [OperatorCommand.Kind] = []
    var lease: Lease?

    func command(_ kind: OperatorCommand.Kind) -> OperatorCommand? { self.commands.first { $0.kind == kind } }

    /// The hold that is in force.
    var hold: OperatorCommand? {
        guard let command = self.command(.hold), command.hold != nil, command.left != 0 else { return nil }
        guard let reset = self.command(.reset)?.stamp, let stamp = command.stamp else { return command }
        return stamp > reset ? command : nil
    }
}

/// The server's counts of one circuit over all hosts, in the windows of this host's own rules.
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
