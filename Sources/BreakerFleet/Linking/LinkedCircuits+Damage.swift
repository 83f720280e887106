#if PostgreSQL
import BreakerStore

/// Operators' commands with damaged stamps: no host takes them over, and people must learn of them.
extension LinkedCircuits {
    /// Reports the damaged commands of a register to the log, once a connection.
    func reportDamage(of register: Register) {
        guard !register.damagedWords.isEmpty, !self.reportedDamage.contains(register.name) else { return }
        self.reportedDamage.insert(register.name)
        for kind in register.damagedWords { self.tell?(FleetNews(ofDamaged: kind, on: register.name)) }
    }

    /// The trouble of the commands in the file that no link may send; nil if there are none.
    var unsentCommands: Trouble? {
        guard let time = self.serverClock.time(at: self.now) else { return nil }
        var first: (circuit: String, word: LinkWord)?
        var count = 0
        for (name, file) in self.file.circuits {
            for word in CircuitLink.unsendable(file, serverTime: time) {
                count += 1
                if first.map({ name < $0.circuit }) ?? true { first = (name, word) }
            }
        }
        return first.map { Trouble(unsent: $0.word, on: $0.circuit, others: count - 1) }
    }
}

extension LinkedCircuits.Trouble {
    fileprivate init(unsent word: LinkWord, on circuit: String, others: Int) {
        let what = word.kind == .hold && word.hold == nil ? "release" : word.kind.rawValue
        let who = word.by.map { " by \($0.quoted)" } ?? ""
        let more = others == 0 ? "" : " and \(others) more \(others == 1 ? "command" : "commands")"
        self.init(
            text: "does not send the \(what) of \(circuit.quoted)\(who)\(more), dated more than a year after the "
                + "server's time; if the server's clock is right, give a new command",
            code: .unavailable)
    }
}
#endif
