/// The row of the table `clock`: one clock for all processes that share the file.
///
/// Store time is the uptime plus `offset`. It comes from this row alone: a bad stamp of a circuit, a failure or a probe
/// moves no process's clock.
struct ClockRow: Equatable {
    var boot: String
    var offset: Int64
    /// Upper bound of all stamps in the file.
    ///
    /// A commit that reaches it moves it to 10 s after now, so that most commits need not write the row.
    var reserved: Int64
    var epochFloor: Epoch
    /// A random number that no other file has.
    var incarnation: Int64
    /// The wall clock's `time` (Unix time) at the store time `at`.
    var wall: Wall

    struct Wall: Equatable {
        var time: Int64
        var at: Int64
    }

    /// How far ahead of now a commit moves `reserved`, in microseconds.
    static let reserve: Int64 = 10_000_000

    private static let columns = "boot, offset, reserved, epoch_floor, incarnation, wall, wall_at"

    /// The Unix times at which a store can have been used, up to the year 2300.
    fileprivate static let possibleTimes: ClosedRange<Int64> = 0...10_413_792_000_000_000
    fileprivate static let epochs: ClosedRange<Int64> = 0...1 << 62
    fileprivate static let incarnations: ClosedRange<Int64> = 1...(1 << 62) - 1

    private static let stored = SQL(composed: "SELECT \(columns) FROM clock WHERE id = 1")

    /// The row; nil if it is missing or unreadable.
    static func read(_ database: Database) throws(BreakerStoreError) -> ClockRow? {
        try database.first(Self.stored) { ClockRow($0) } ?? nil
    }

    /// The time and the row with which a transaction begins.
    struct Start {
        var now: StoreTime
        var row: ClockRow
        /// Whether the row was written again because it could not be read, or its time under this boot was impossible.
        var isRepaired = false
        /// Whether the file was created just now.
        var isNew = false
    }

    /// Reads the store time at the start of a transaction that may write; writes the row if its offset is of no use.
    ///
    /// After a boot the first transaction sets a new offset, so that store time continues and reads as Unix time. An
    /// offset that was set back is moved ahead, and a row that can't be read is written again.
    ///
    /// - Parameter known: the row, if no other connection has committed since this one read or wrote it.
    static func start(
        _ database: Database, _ clock: StoreClock, known: ClockRow? = nil
    ) throws(BreakerStoreError) -> Start {
        // With a known row no other connection has committed, so the schema's version has not changed either.
        if known == nil { try database.requireKnownVersion() }
        let found = if let known { known } else { try Self.read(database) }
        guard var row = found, row.boot == clock.host.bootID,
            Self.possibleTimes.contains(row.now(at: clock.uptime))
        else { return try self.rewrite(found, database, clock) }
        clock.offset = row.offset
        let now = clock.now
        // A commit moves `reserved` to 10 s after its own time. So if `now` is more than 10 s before `reserved`, it is
        // before that commit.
        guard now.microseconds < row.reserved.subtractingSaturating(Self.reserve) else {
            return Start(now: now, row: row)
        }
        // The offset was set back, or the machine was restored from a memory image: store time never runs backwards.
        row.offset = row.reserved.subtractingSaturating(clock.uptime.microseconds)
        clock.offset = row.offset
        try database.run("UPDATE clock SET offset = ?1 WHERE id = 1", .integer(row.offset))
        return Start(now: StoreTime(microseconds: row.reserved), row: row)
    }

    /// The offset for a process that only reads.
    ///
    /// After a boot, before any process has written, the reader computes the offset that the first writer will store.
    func offsetToRead(_ clock: StoreClock) -> Int64 {
        if self.boot == clock.host.bootID, Self.possibleTimes.contains(self.now(at: clock.uptime)) {
            return self.offset
        }
        let uptime = clock.uptime
        let wall = clock.unixOffset.addingSaturating(uptime.microseconds)
        return max(self.now(atWall: wall), self.reserved).subtractingSaturating(uptime.microseconds)
    }

    /// Estimates store time from the wall clock, after a boot.
    ///
    /// The last stored time plus the progress of the wall clock since. If that is out of range, the wall clock itself.
    /// Example: at store time 1000 the wall clock read 1500, because an operator had set it ahead. If it reads 1600
    /// after the boot, store time is 1100.
    private func now(atWall wall: Int64) -> Int64 {
        let now = self.wall.at.addingSaturating(max(0, wall.subtractingSaturating(self.wall.time)))
        return Self.possibleTimes.contains(now) ? now : wall
    }

    private static func nearestPossible(to instant: Int64) -> Int64 {
        min(max(instant, self.possibleTimes.lowerBound), self.possibleTimes.upperBound)
    }

    private func now(at uptime: Uptime) -> Int64 { self.offset.addingSaturating(uptime.microseconds) }

    /// Writes the row again: after a boot, in a new file, and if it can't be read.
    ///
    /// - Parameter row: the current row; nil if there is none or it can't be read.
    private static func rewrite(
        _ row: ClockRow?,
        _ database: Database,
        _ clock: StoreClock
    ) throws(BreakerStoreError) -> Start {
        let uptime = clock.uptime
        let history = try Self.newestStamp(ofHistoryIn: database)
        let wall = Self.nearestPossible(to: clock.unixOffset.addingSaturating(uptime.microseconds))
        // If the row can't be read, this process may have read the offset earlier.
        let ownTime = row == nil && clock.isSet ? Self.nearestPossible(to: clock.now.microseconds) : nil
        let now = max(ownTime ?? row?.now(atWall: wall) ?? wall, row?.reserved ?? 0, history)
        clock.offset = now.subtractingSaturating(uptime.microseconds)
        let isRepaired =
            switch row {
            // The row can't be read; in a new file, which has no history, there is none yet.
            case nil: try database.hasHistory()
            // Of this boot, with an impossible time. A row of another boot needs no repair: each boot rewrites it.
            case let row?: row.boot == clock.host.bootID
            }
        let newRow = ClockRow(
            boot: clock.host.bootID, offset: clock.offset, reserved: now.addingSaturating(Self.reserve),
            // Each epoch is a store time or a floor, or little more than one of these. A repair sets a floor one
            // reserve above `reserved`, which is itself at most one reserve above now. So now + 2 × reserve is above
            // all epochs of circuits that were forgotten before the row was lost.
            epochFloor: row?.epochFloor ?? Epoch(isRepaired ? now.addingSaturating(2 * Self.reserve) : now),
            incarnation: row?.incarnation ?? Int64.random(in: Self.incarnations),
            wall: Wall(time: wall, at: now))
        // Other rows of the table mean nothing: the library uses one.
        try database.run("DELETE FROM clock")
        try database.run(
            """
            INSERT INTO clock (id, boot, offset, reserved, epoch_floor, incarnation, wall, wall_at)
            VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            .text(newRow.boot), .integer(newRow.offset), .integer(newRow.reserved), SQLValue(newRow.epochFloor),
            .integer(newRow.incarnation), .integer(newRow.wall.time), .integer(newRow.wall.at)
        )
        return Start(
            now: StoreTime(microseconds: now), row: newRow, isRepaired: isRepaired, isNew: row == nil && !isRepaired)
    }

    /// An instant that store time has reached, according to the history.
    ///
    /// The earlier stamp of the two newest events, so that one garbled stamp does not move the clock.
    private static func newestStamp(ofHistoryIn database: Database) throws(BreakerStoreError) -> Int64 {
        let stamps = try database.all("SELECT at FROM event ORDER BY id DESC LIMIT 2") { $0.typedInteger(0) }
        let possible = stamps.compactMap(\.self).filter(Self.possibleTimes.contains)
        return possible.min() ?? 0
    }
}

extension ClockRow {
    /// Reads the row; nil if no version of this library can have written it.
    init?(_ row: Row) {
        guard let boot = row.typedText(0), let offset = row.typedInteger(1),
            let reserved = row.typedInteger(2), Self.possibleTimes.contains(reserved),
            let epochFloor = row.typedInteger(3), Self.epochs.contains(epochFloor),
            let incarnation = row.typedInteger(4), Self.incarnations.contains(incarnation),
            let time = row.typedInteger(5), let at = row.typedInteger(6)
        else { return nil }
        self.init(
            boot: boot, offset: offset, reserved: reserved, epochFloor: Epoch(epochFloor), incarnation: incarnation,
            wall: Wall(time: time, at: at))
    }
}

extension Database {
    /// Moves `reserved` ahead if necessary, so that it stays above all stamps of a commit at `now`.
    ///
    /// - Parameter row: the row as this transaction has read it; on return, as the file has it.
    func reserveTime(_ row: inout ClockRow, for now: StoreTime, _ clock: StoreClock) throws(BreakerStoreError) {
        guard now.microseconds >= row.reserved else { return }
        row.reserved = now.microseconds.addingSaturating(ClockRow.reserve)
        row.wall = ClockRow.Wall(
            time: clock.unixOffset.addingSaturating(clock.uptime(of: now).microseconds), at: now.microseconds)
        try self.run(
            "UPDATE clock SET reserved = ?1, wall = ?2, wall_at = ?3 WHERE id = 1",
            .integer(row.reserved), .integer(row.wall.time), .integer(row.wall.at)
        )
    }

    fileprivate func hasHistory() throws(BreakerStoreError) -> Bool {
        try self.connection.integer("SELECT EXISTS (SELECT 1 FROM event)") != 0
    }
}
