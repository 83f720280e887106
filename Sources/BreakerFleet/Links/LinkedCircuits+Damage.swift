#if PostgreSQL
import BreakerStore

/// Reports operators' commands with damaged stamps, which no host obeys.
extension LinkedCircuits {
    /// Reports the damaged commands of a register to the log, once per connection.
    func reportDamage(of register: Register) {
        guard !register.damagedCommands.isEmpty, !self.reportedDamage.contains(register.name) else { return }
        self.reportedDamage.insert(register.name)
        for kind in register.damagedCommands { self.publish?(FleetNews(ofDamaged: kind, on: register.name)) }
    }

    /// The trouble with commands in the file that no link may send; nil if there are none.
    var unsentCommands: Trouble? {
        guard let time = self.serverClock.time(at: self.now) else { return nil }
        var first: (circuit: String, command: OperatorCommand)?
        var count = 0
        for (name, file) in self.file.circuits {
            for command in CircuitLink.unsendable(file, serverTime: time) {
                count += 1
                if first.map({ name < $0.circuit }) ?? true { first = (name, command) }
            }
        }
        return first.map { Trouble(unsent: $0.command, on: $0.circuit, others: count - 1) }
    }
}

extension LinkedCircuits.Trouble {
    fileprivate init(unsent command: OperatorCommand, on circuit: String, others: Int) {
        let what = command.kind == .hold && command.hold == nil ? "release" : command.kind.rawValue
        let who = command.by.map { " by \($0.quoted)" } ?? ""
        let more = others == 0 ? "" : " and \(others) more \(others == 1 ? "command" : "commands")"
        self.init(
            text: "does not send the \(what) of \(circuit.quoted)\(who)\(more), dated more than a year after the "
                + "server's time; correct the server's clock, or if it is right, repeat the command",
            code: .unavailable)
    }
}
#endif
