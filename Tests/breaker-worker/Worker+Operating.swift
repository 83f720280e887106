import BreakerStore

/// What operators do.
extension Worker {
    /// `hold <circuit> open|closed [for=<seconds>] [by=<who>] [reason=<why>]`, `release|reset|probe|forget <circuit>`.
    func actAsOperator(_ command: Command) throws -> String {
        let name = try command.word(0)
        let store = try self.store
        switch command.verb {
        case "hold":
            guard let state = HoldState(rawValue: try command.word(1)) else { throw Missing(what: "a state to hold") }
            try store.hold(
                name, state, for: command.option("for").map { .seconds($0) }, by: command.text("by"),
                reason: command.text("reason"))
        case "release": try store.release(name)
        case "reset": try store.reset(name)
        case "probe": try store.probe(name)
        default: try store.forget(name)
        }
        return "ok"
    }
}
