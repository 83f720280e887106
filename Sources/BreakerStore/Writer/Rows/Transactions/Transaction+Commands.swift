/// The newest operator command of each kind about a circuit, ordered among all hosts by Lamport time (docs/fleet.md).
///
/// A command gets its Lamport time from a link. Until then it has only a floor: the newest Lamport time that its host
/// knew when the operator gave the command.
extension Transaction {
    private struct Commands {
        var id: Int64
        var all: [OperatorCommand]

        subscript(_ kind: OperatorCommand.Kind) -> OperatorCommand? { self.all.first { $0.kind == kind } }

        /// The newest Lamport time that this host knows.
        ///
        /// A command without one counts as floor + 1, the least that it can get.
        var newest: Int64 { self.all.map { $0.lamportTime ?? $0.floor.addingSaturating(1) }.max() ?? 0 }
    }

    private func commands(of name: String) throws(BreakerStoreError) -> Commands? {
        guard let id = try self.row(of: name)?.id else { return nil }
        let commands = try self.database.all(
            """
            SELECT kind, number, lamport_time, floor, at, hold, hold_for, operator, reason FROM command
            WHERE circuit = ?1 AND kind IN ('hold', 'reset', 'probe') ORDER BY floor, at
            """, .integer(id)
        ) { OperatorCommand($0, at: self.now) }
        return Commands(id: id, all: commands.compactMap(\.self))
    }

    private func write(_ command: OperatorCommand, of circuit: Int64) throws(BreakerStoreError) {
        try self.database.run(
            """
            INSERT OR REPLACE INTO command
            (circuit, kind, number, lamport_time, floor, at, hold, hold_for, operator, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """,
            .integer(circuit), .text(command.kind.rawValue), .integer(command.number), SQLValue(command.lamportTime),
            .integer(command.floor), .integer(self.now.subtracting(command.age).microseconds),
            SQLValue(command.hold?.rawValue), SQLValue(command.holdFor), SQLValue(command.by.map(LinkText.cut)),
            SQLValue(command.reason.map(LinkText.cut)))
    }

    /// Records a command that an operator has just given; chooses its number and its floor.
    func record(_ command: OperatorCommand, of name: String) throws(BreakerStoreError) {
        guard let commands = try self.commands(of: name) else { return }
        var command = command
        command.number = .random(in: 1..<Int64.max)
        command.floor = commands.newest
        try self.write(command, of: commands.id)
    }

    /// Gives Lamport times to this host's commands that have none; false if all have one.
    func stampCommands(of name: String, serverTime: Int64, notBefore: Int64) throws(BreakerStoreError) -> Bool {
        guard let commands = try self.commands(of: name) else { return false }
        let credible = OperatorCommand.credibleStamps(at: serverTime)
        var least = notBefore
        var isChanged = false
        // Oldest first, by their floors: an operator's later command stays later.
        for var command in commands.all where command.lamportTime == nil {
            // A floor above all credible times comes from a command with a damaged time, and does not count.
            let floor = credible.contains(command.floor) ? command.floor : 0
            let time = max(least, floor + 1, serverTime.subtractingSaturating(command.age))
            command.lamportTime = min(time, OperatorCommand.latest)
            least = time.addingSaturating(1)
            try self.write(command, of: commands.id)
            isChanged = true
        }
        return isChanged
    }

    /// Applies a command from another host to the circuit; false if this host has a newer one.
    ///
    /// - Parameters:
    ///   - keepsTrip: whether a reset must leave the circuit open, because the circuit tripped after the reset was
    ///     given: the reset was meant for the state before.
    ///   - serverTime: the server's current time; a command in the file with a damaged Lamport time counts as older.
    func obey(
        _ command: OperatorCommand, on name: String, by who: String?, keepsTrip: Bool, serverTime: Int64
    ) throws(BreakerStoreError) -> Bool {
        let credible = OperatorCommand.credibleStamps(at: serverTime)
        guard let commands = try self.commands(of: name), let stamp = command.stamp,
            credible.contains(stamp.lamportTime)
        else { return false }
        func isOlder(_ kind: OperatorCommand.Kind) -> Bool {
            guard let own = commands[kind] else { return true }
            // A command of this host that has no Lamport time yet is newer: the link has yet to send it.
            return own.stamp.map { $0 < stamp || !credible.contains($0.lamportTime) } ?? false
        }
        guard isOlder(command.kind) else { return false }
        let (endsHold, isEndedByReset) = (isOlder(.hold), !isOlder(.reset))
        var shortened = command
        shortened.reason = command.reason.map(LinkText.cut)
        _ = try self.change(name, by: who) { [shortened] circuit, moment, _ in
            circuit.obey(
                shortened, by: who, keepsTrip: keepsTrip, endsHold: endsHold, isEndedByReset: isEndedByReset,
                at: moment.now)
        }
        try self.write(command, of: commands.id)
        return true
    }
}

extension Circuit {
    /// Applies a command from another host.
    ///
    /// - Parameters:
    ///   - endsHold: for a reset, whether it is newer than the circuit's hold.
    ///   - isEndedByReset: for a hold, whether a newer reset has already ended it.
    mutating func obey(
        _ command: OperatorCommand, by who: String?, keepsTrip: Bool, endsHold: Bool, isEndedByReset: Bool,
        at now: StoreTime
    ) {
        switch command.kind {
        case .hold:
            let remaining = command.left.map { min($0, Duration.longestAllowed.saturatingMicroseconds) }
            if let state = command.hold, remaining != 0, !isEndedByReset {
                self.held(state, for: remaining, by: who, reason: command.reason, at: now)
            } else {
                _ = self.released(at: now, reason: command.reason)
            }
        case .reset where keepsTrip:
            if endsHold { _ = self.released(at: now, reason: command.reason) }
        case .reset:
            self.resetOrdered(asOf: now.subtracting(command.age), endsHold: endsHold, reason: command.reason, at: now)
        // Not a host's command to others: the server makes it the right of the operator's host to probe.
        case .probe: break
        }
    }
}

extension OperatorCommand {
    /// Reads a row of the table; nil for values that no version of this library can have written.
    init?(_ row: Row, at now: StoreTime, from first: Int32 = 0) {
        guard let kind = row.typedText(first).flatMap(Kind.init(rawValue:)) else { return nil }
        let lamportTime = row.optionalInteger(first + 2)
        let floor = row.integer(first + 3)
        let hold = row.optionalText(first + 5)
        guard (0...Self.latest).contains(floor), lamportTime.map((0...Self.latest).contains) ?? true,
            hold == nil || HoldState(rawValue: hold ?? "") != nil
        else { return nil }
        self.init(
            kind: kind, number: row.integer(first + 1), lamportTime: lamportTime, floor: floor,
            age: max(0, now.microseconds(since: StoreTime(microseconds: row.integer(first + 4)))),
            hold: hold.flatMap(HoldState.init(rawValue:)),
            holdFor: row.optionalInteger(first + 6).map { max(0, $0) },
            by: row.optionalText(first + 7).map(LinkText.cut), reason: row.optionalText(first + 8).map(LinkText.cut))
    }
}
