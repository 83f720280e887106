#if PostgreSQL
import BreakerStore

extension Registers {
    /// The longest time that an answer may take; the durations in a slower one no longer hold.
    static let maxAnswerTime: Duration = .microseconds(CircuitLink.Settings.onTheWay)

    /// The registers that were read, and the transaction from which on the next read must continue.
    struct Reading: Sendable, Hashable {
        var registers: [Register]
        /// The wanted circuits whose registers are damaged.
        var damaged: Names
        /// The server's time.
        var time: Int64
        /// The `changedSince` of a later read: the oldest transaction that this read may not have seen.
        var seen: String
        /// Whether the heartbeat that read this has made the host's row.
        var isNewHost = false
    }

    /// Reads the registers of these names; with `changedSince`, only those that have changed since that reading.
    ///
    /// A damaged row is only named in `damaged`. `changedSince` is valid on one server: pass nil on a new connection.
    ///
    /// - Throws: `timedOut` if the answer took so long that its durations no longer hold.
    func read(_ names: Names, changedSince seen: String? = nil) throws(FleetError) -> Reading {
        let sent = ContinuousClock.now
        let rows = try self.connection.run(
            "WITH \(Self.seen(at: 3)) SELECT \(Self.columns), true FROM t LEFT JOIN fleet.circuit AS c ON \(Self.wanted)",
            [self.fleet, seen == nil ? ServerText.array(names.sorted()) : nil, seen])
        return try self.reading(rows, of: names, sent: sent)
    }

    /// The server's time, the oldest transaction that this statement may not see, and the first one that is wanted.
    ///
    /// If the wanted transaction id is higher than all of this server's, it comes from another server, which this one
    /// has replaced: then all rows are wanted.
    ///
    /// - Parameter index: the number of the statement's parameter that has the wanted transaction id.
    static func seen(at index: Int) -> String {
        """
        t AS MATERIALIZED (SELECT fleet.now() AS now, pg_snapshot_xmin(pg_current_snapshot()) AS seen,
        CASE WHEN $\(index)::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) THEN $\(index)::xid8 ELSE '0' END AS since)
        """
    }

    /// The wanted rows: those of the names in the second parameter, or those that have changed.
    static let wanted = "c.fleet = $1 AND ($2::text[] IS NULL AND c.changed >= t.since OR c.name = ANY ($2::text[]))"

    /// The columns of a register, after the server's time; ages are computed below, where a bad stamp can't overflow.
    static let columns = """
        t.seen::text, t.now, c.name, c.generation, c.state, c.since, c.open_until, c.open_for, c.trips, c.reason,
        c.said_by, c.lease_host, c.lease_ends, c.lease_for, c.hold_said, c.hold_number, c.hold, c.hold_for, c.hold_by,
        c.hold_reason, c.reset_said, c.reset_number, c.reset_by, c.reset_reason
        """
    static let columnCount = 24

    func reading(
        _ rows: [ServerRow], of names: Names, sent: ContinuousClock.Instant
    ) throws(FleetError) -> Reading {
        guard ContinuousClock.now - sent <= Self.maxAnswerTime else {
            throw FleetError(code: .timedOut, message: "the server took longer than a second to send the circuits")
        }
        guard let first = rows.first, let seen = first.text(0), UInt64(seen) != nil, let time = first.number(1),
            OperatorCommand.sendable.contains(time)
        else {
            throw FleetError(code: .unavailable, message: "the server sent an answer that does not fit the request")
        }
        var reading = Reading(registers: [], damaged: [], time: time, seen: seen)
        for row in rows.prefix(FleetLimits.registers) {
            guard let name = row.text(2), names.contains(name) else { continue }
            if let register = Register(row: row) {
                reading.registers.append(register)
            } else {
                reading.damaged.insert(name)
            }
        }
        return reading
    }
}

extension Register {
    /// Parses a row of `Registers.columns`; nil if it is damaged.
    init?(row: ServerRow) {
        guard let now = row.number(1), (0...FleetLimits.stamp).contains(now), let name = row.text(2),
            let generation = row.number(3), (1...FleetLimits.readableGeneration).contains(generation),
            let state = row.text(4).flatMap({ State(rawValue: $0) })
        else { return nil }
        let since = row.number(5)
        self.init(
            name: name, generation: generation, state: state, age: Self.age(of: since, at: now), since: since ?? 0)
        if state == .open {
            self.openFor = FleetLimits.duration(row.number(7) ?? 0)
            self.left = Self.left(until: row.number(6), of: self.openFor, at: now)
        }
        self.trips = Int(min(max(0, row.number(8) ?? 0), FleetLimits.trips))
        self.reason = row.text(9).map { ServerText.shown($0) }
        self.by = row.text(10).map { ServerText.shown($0) }
        let leaseLeft = Self.left(until: row.number(12), of: min(row.number(13) ?? 0, FleetLimits.lease), at: now)
        if let host = row.text(11), leaseLeft > 0 { self.lease = Lease(host: host, left: leaseLeft) }
        guard row.text(16) == nil || HoldState(rawValue: row.text(16) ?? "") != nil else { return nil }
        if var command = self.readCommand(.hold, row, said: 14, by: 18, reason: 19, at: now) {
            command.hold = row.text(16).flatMap { HoldState(rawValue: $0) }
            command.holdFor = row.number(17).map { FleetLimits.duration($0) }
            self.commands.append(command)
        }
        if let command = self.readCommand(.reset, row, said: 20, by: 22, reason: 23, at: now) {
            self.commands.append(command)
        }
    }

    /// Reads a command of a row; nil if the row has none, or one with a damaged stamp (`damagedCommands`).
    private mutating func readCommand(
        _ kind: OperatorCommand.Kind, _ row: ServerRow, said: Int, by: Int, reason: Int, at now: Int64
    ) -> OperatorCommand? {
        let (lamportTime, number) = (row.number(said), row.number(said + 1))
        guard let lamportTime, let number, OperatorCommand.credibleStamps(at: now).contains(lamportTime) else {
            if lamportTime != nil || number != nil { self.damagedCommands.append(kind) }
            return nil
        }
        return OperatorCommand(
            kind: kind, number: number, lamportTime: lamportTime, age: Self.age(of: lamportTime, at: now),
            by: row.text(by).map { ServerText.shown($0) }, reason: row.text(reason).map { ServerText.shown($0) })
    }

    /// How much of a span is left; 0 if more is left than the span is long, since the server's clock was set back then.
    private static func left(until end: Int64?, of length: Int64, at now: Int64) -> Int64 {
        guard let end, end > now else { return 0 }
        let (left, isTooFar) = end.subtractingReportingOverflow(now)
        return isTooFar || left > length ? 0 : left
    }

    static func age(of stamp: Int64?, at now: Int64) -> Int64 {
        guard let stamp, stamp < now else { return 0 }
        let (age, isTooLong) = now.subtractingReportingOverflow(stamp)
        return isTooLong ? FleetLimits.duration : FleetLimits.duration(age)
    }
}
#endif
