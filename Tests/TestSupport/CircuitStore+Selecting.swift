package import BreakerStore

/// An operator's commands on several circuits, carried out at once.
extension CircuitStore {
    @discardableResult
    package func perform(
        _ action: OperatorAction, on selection: [CircuitSelector], by who: String? = nil, reason: String? = nil
    ) throws(BreakerStoreError) -> [StateChange] {
        try Self.finish(try self.command(action, on: selection, by: who, reason: reason))
    }

    @discardableResult
    package func forget(_ selection: [CircuitSelector], evenIfInUse: Bool) throws(BreakerStoreError) -> [StateChange] {
        try Self.finish(try self.commandToForget(selection, evenIfInUse: evenIfInUse))
    }

    /// Changes all circuits that are left, and returns the changes, by name.
    private static func finish(_ command: BatchedCommand) throws(BreakerStoreError) -> [StateChange] {
        var command = command
        var changes: [StateChange] = []
        while let more = try command.next() { changes += more }
        return changes.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
