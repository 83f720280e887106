#if PostgreSQL
package import BreakerStore

/// Operators' commands for all hosts, given at the server.
///
/// They stand in the same columns as those that links send, with a Lamport time as a link would give it, so that every
/// link passes them on to its host's file.
extension FleetServer {
    /// Gives a command for a circuit to all hosts; false if the register has changed or is gone since it was read.
    ///
    /// - Parameter circuit: the circuit, as the operator has seen it.
    package func give(
        _ action: OperatorAction, to circuit: FleetCircuit, of fleet: String, by who: String, reason: String?
    ) throws(FleetError) -> Bool {
        let registers = try self.registers(of: fleet)
        let reading = try registers.read([circuit.name])
        guard let register = reading.registers.first else { return false }
        let command = OperatorCommand(
            action, number: .random(in: 1..<Int64.max), after: register, at: reading.time, by: who, reason: reason)
        return try registers.send(command, of: circuit.name, ifCommandsAre: circuit.register) != .refused
    }
}

extension OperatorCommand {
    /// A command that is newer than those of the register.
    fileprivate init(
        _ action: OperatorAction, number: Int64, after register: Register, at time: Int64, by who: String,
        reason: String?
    ) {
        let newest = register.commands.compactMap(\.lamportTime).max() ?? 0
        self.init(
            kind: .hold, number: number, lamportTime: max(time, newest.addingSaturating(1)), by: who, reason: reason)
        switch action {
        case .hold(let state, let duration):
            (self.hold, self.holdFor) = (state, duration?.saturatingMicroseconds)
        case .release: break
        case .reset: self.kind = .reset
        case .probe: self.kind = .probe
        }
    }
}
#endif
