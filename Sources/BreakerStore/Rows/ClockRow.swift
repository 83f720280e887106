/// The row of the table `clock`: one clock for all who share the file.
///
/// Store time comes from this row alone. A bad stamp of a circuit, a failure or a probe moves nobody's clock.
struct ClockRow: Equatable {
    var boot: String
    var offset: Int64
    var highest: Int64
    var epochFloor: Int64
    /// A number that no other file has; nil until a program of schema 1.1 has written.
    var birth: Int64?
    /// What the wall clock said at a store time, in Unix time.
    var wall: Wall?
    /// The newest store time that was written by a program that counts the failures in the circuits' rows.
    var countedTo: Int64?
    /// Marks of the failures with this number are true.
    var counting: Int64 = 0

    struct Wall: Equatable {
        var time: Int64
        var at: Int64
    }

    private static let columns = "boot, offset, highest, epoch_floor"
    private static let columnsOfCounting = "birth, wall, wall_at, counted_to, counting"

    /// The instants at which a store can have been used, in Unix time: to the year 2300.
    fileprivate static let possible: ClosedRange<Int64> = 0...10_413_792_000_000_000
    fileprivate static let epochs: ClosedRange<Int64> = 0...1 << 62

    private static let stored = SQL(
        composed: "SELECT \(columns), \(columnsOfCounting) FROM clock WHERE id = 1",
        older: "SELECT \(columns), NULL, NULL, NULL, NULL, NULL FROM clock WHERE id = 1"
    )

    /// The row, or nil if there is none or it can't be read.
    static func read(_ database: Database) throws(BreakerStoreError) -> ClockRow? {
        try database.first(Self.stored) { ClockRow($0) } ?? nil
    }

    /// Whether the row can be read, and is of another boot.
    static func isOfAnotherBoot(_ database: Database, than boot: String) throws(BreakerStoreError) -> Bool {
        try database.first(Self.stored) { row in ClockRow(row).map { !$0.isOf(boot: boot) } ?? false } ?? false
    }

    /// What a transaction begins with.
    struct Start {
        var now: StoreTime
        var row: ClockRow
        /// Whether the row could not be read, and was made anew.
        var isHealed: Bool
    }

    /// Store time now; called inside a transaction that may write.
    ///
    /// After a boot the first transaction sets the offset anew, so that store time reads as Unix time.
    ///
    /// - Parameter known: the row, if it need not be read.
    static func start(
        _ database: Database,
        _ clock: StoreClock,
        known: ClockRow? = nil
    ) throws(BreakerStoreError) -> Start {
        var found = known
        if found == nil {
            try database.requireKnownVersion()
            found = try Self.read(database)
        }
        guard var row = found, row.isOf(boot: clock.host.bootID), Self.possible.contains(row.now(at: clock.uptime))
        else {
            return try self.set(found, database, clock)
        }
        if row.boot != clock.host.bootID {
            row.boot = clock.host.bootID
            try database.run("UPDATE clock SET boot = ?1 WHERE id = 1", .text(row.boot))
        }
        clock.offset = row.offset
        let now = clock.now
        if row.countedTo != row.highest {
            // A program that does not count the failures has written.
            row.counting = max(row.counting.addingSaturating(1), row.highest)
            row.countedTo = nil
        }
        guard now.microseconds < row.highest else { return Start(now: now, row: row, isHealed: false) }
        // Store time never runs backwards.
        row.offset = row.highest.subtractingSaturating(clock.uptime)
        clock.offset = row.offset
        try database.run("UPDATE clock SET offset = ?1 WHERE id = 1", .integer(row.offset))
        return Start(now: StoreTime(microseconds: row.highest), row: row, isHealed: false)
    }

    /// The offset for a process that only reads.
    ///
    /// After a boot, before any process has written, and in place of a row that can't be read, the reader computes the
    /// offset that the first writer will store.
    func offsetToRead(_ clock: StoreClock) -> Int64 {
        if self.isOf(boot: clock.host.bootID), Self.possible.contains(self.now(at: clock.uptime)) { return self.offset }
        let uptime = clock.uptime
        let wall = clock.unixOffset.addingSaturating(uptime)
        return max(self.now(atWall: wall), self.highest).subtractingSaturating(uptime)
    }

    /// Store time by the wall clock, after a boot.
    ///
    /// What counts is how far the wall clock has come since the last commit. What it says need not be Unix time: if
    /// somebody has set it, store time has not followed.
    private func now(atWall wall: Int64) -> Int64 {
        guard let kept = self.wall else { return wall }
        let now = kept.at.addingSaturating(max(0, wall.subtractingSaturating(kept.time)))
        return Self.possible.contains(now) ? now : wall
    }

    private static func nearestPossible(to instant: Int64) -> Int64 {
        min(max(instant, self.possible.lowerBound), self.possible.upperBound)
    }

    /// Whether the offset holds in this boot.
    ///
    /// A flipped bit in the name of a boot makes no other boot: their names are random, and differ in most letters.
    func isOf(boot: String) -> Bool {
        if self.boot == boot { return true }
        let (one, other) = (self.boot.utf8, boot.utf8)
        return one.count == other.count && one.count == Self.lengthOfRandomNames
            && zip(one, other).count { $0 != $1 } <= 2
    }

    /// The length of the names that the kernel gives to boots, random(4).
    private static let lengthOfRandomNames = 36

    private func now(at uptime: Int64) -> Int64 { self.offset.addingSaturating(uptime) }

    /// Makes the row anew: after a boot, in a new file, and where it can't be read.
    ///
    /// - Parameter row: what stands there, if that can be read.
    private static func set(
        _ row: ClockRow?,
        _ database: Database,
        _ clock: StoreClock
    ) throws(BreakerStoreError) -> Start {
        let uptime = clock.uptime
        let history = try Self.newestStamp(ofHistoryIn: database)
        let wall = Self.nearestPossible(to: clock.unixOffset.addingSaturating(uptime))
        // The row can't be read, but this process may have read the offset earlier.
        let own = row == nil && clock.isSet ? Self.nearestPossible(to: clock.now.microseconds) : nil
        let now = max(own ?? row?.now(atWall: wall) ?? wall, row?.highest ?? 0, history)
        clock.offset = now.subtractingSaturating(uptime)
        // An epoch is an instant of store time, or some few above one. So no forgotten circuit had a higher epoch than
        // now.
        let floor = row?.epochFloor ?? now
        let isHealed = try row == nil ? database.hasHistory() : row?.boot == clock.host.bootID
        var made = ClockRow(boot: clock.host.bootID, offset: clock.offset, highest: now, epochFloor: floor)
        made.birth = row?.birth
        made.counting = max(now, row?.counting.addingSaturating(1) ?? 0)
        // Any other rows of the table are no clock: the library keeps one.
        try database.run("DELETE FROM clock")
        try database.run(
            "INSERT INTO clock (id, boot, offset, highest, epoch_floor) VALUES (1, ?1, ?2, ?3, ?4)",
            .text(made.boot), .integer(made.offset), .integer(made.highest), .integer(made.epochFloor)
        )
        try database.keep(&made, at: StoreTime(microseconds: now), clock)
        return Start(now: StoreTime(microseconds: now), row: made, isHealed: isHealed)
    }

    /// An instant that store time has reached, as far as the history can tell.
    ///
    /// Two events must agree: one garbled stamp must not move the clock.
    private static func newestStamp(ofHistoryIn database: Database) throws(BreakerStoreError) -> Int64 {
        let stamps = try database.all("SELECT at FROM event ORDER BY id DESC LIMIT 2") { $0.typedInteger(0) }
        let possible = stamps.compactMap(\.self).filter(Self.possible.contains)
        return possible.min() ?? 0
    }
}

extension ClockRow {
    /// Reads the columns from `first` on; nil for what no version of this library can have written.
    init?(_ row: Row, from first: Int32 = 0) {
        guard let boot = row.typedText(first), let offset = row.typedInteger(first + 1),
            let highest = row.typedInteger(first + 2), Self.possible.contains(highest),
            let epochFloor = row.typedInteger(first + 3), Self.epochs.contains(epochFloor)
        else { return nil }
        self.boot = boot
        self.offset = offset
        self.highest = highest
        self.epochFloor = epochFloor
        self.birth = row.typedInteger(first + 4)
        if let time = row.typedInteger(first + 5), let at = row.typedInteger(first + 6) {
            self.wall = Wall(time: time, at: at)
        }
        self.countedTo = row.typedInteger(first + 7)
        self.counting = row.typedInteger(first + 8) ?? 0
    }
}

extension Database {
    /// Stores that a commit is of `now`, so that store time never runs backwards.
    ///
    /// - Parameter row: the row as this transaction has read it; afterwards as it stands in the file.
    func keep(_ row: inout ClockRow, at now: StoreTime, _ clock: StoreClock) throws(BreakerStoreError) {
        var kept = row
        kept.highest = max(row.highest, now.microseconds)
        kept.wall = ClockRow.Wall(
            time: clock.unixOffset.addingSaturating(clock.uptime(of: now)), at: now.microseconds)
        kept.countedTo = kept.highest
        kept.birth = row.birth ?? Int64.random(in: 1..<1 << 62)
        guard kept != row else { return }
        row = kept
        try self.run(
            """
            UPDATE clock SET highest = ?1, wall = ?2, wall_at = ?3, counted_to = ?1, counting = ?4, birth = ?5
            WHERE id = 1
            """,
            .integer(row.highest), SQLValue(row.wall?.time), SQLValue(row.wall?.at), .integer(row.counting),
            SQLValue(row.birth)
        )
    }

    fileprivate func hasHistory() throws(BreakerStoreError) -> Bool {
        try self.connection.integer("SELECT EXISTS (SELECT 1 FROM event)") != 0
    }
}
