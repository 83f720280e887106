/// The row of the table `clock`: one clock for all who share the file.
enum ClockRow {
    /// Store time now, and the highest stamp the file knows.
    ///
    /// Called inside a transaction that may write.
    ///
    /// After a boot the first transaction sets the offset anew, so that store time reads as Unix time.
    static func read(
        _ database: Database,
        _ clock: StoreClock
    ) throws(BreakerStoreError) -> (now: StoreTime, highest: Int64) {
        let row = try database.first("SELECT boot, offset, highest FROM clock") {
            (boot: $0.text(0), offset: $0.integer(1), highest: $0.integer(2))
        }
        guard let row, row.boot == clock.host.bootID else { return try self.set(database, clock) }
        clock.offset = row.offset
        let now = clock.now
        guard now.microseconds < row.highest else { return (now, row.highest) }
        let raised = StoreTime(microseconds: row.highest)
        try self.raise(database, clock, to: raised)
        return (raised, row.highest)
    }

    /// Moves the offset up, so that store time never runs backwards.
    static func raise(_ database: Database, _ clock: StoreClock, to time: StoreTime) throws(BreakerStoreError) {
        clock.offset = time.microseconds.subtractingSaturating(clock.uptime)
        try database.run("UPDATE clock SET offset = ?1", .integer(clock.offset))
    }

    private static func set(
        _ database: Database,
        _ clock: StoreClock
    ) throws(BreakerStoreError) -> (now: StoreTime, highest: Int64) {
        // Any instant in the file: after this one, all others come from the clock that is set here.
        let highest =
            try database.first(
                """
                SELECT max(coalesce((SELECT highest FROM clock), 0), coalesce((SELECT max(at) FROM failure), 0),
                coalesce((SELECT max(since) FROM probe), 0), coalesce((SELECT max(since) FROM worker), 0),
                coalesce((SELECT max(max(since, coalesce(hold_since, 0))) FROM circuit), 0))
                """
            ) { $0.integer(0) } ?? 0
        let uptime = clock.uptime
        let now = max(clock.unixOffset.addingSaturating(uptime), highest)
        clock.offset = now.subtractingSaturating(uptime)
        try database.run(
            """
            INSERT INTO clock (id, boot, offset, highest, epoch_floor) VALUES (1, ?1, ?2, ?3, 0)
            ON CONFLICT (id) DO UPDATE SET boot = ?1, offset = ?2, highest = ?3
            """,
            .text(clock.host.bootID), .integer(clock.offset), .integer(now)
        )
        return (StoreTime(microseconds: now), now)
    }
}
