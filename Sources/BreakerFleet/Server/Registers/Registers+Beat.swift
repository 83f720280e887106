#if PostgreSQL
import BreakerStore

extension Registers {
    /// How long after its last heartbeat a link still owns its host's name.
    static let beatLifetime: Int64 = 5_000_000

    /// A link, as its heartbeat describes it.
    struct Link: Sendable, Hashable {
        /// The random number of this run of the link.
        var session: Int64
        /// The file's incarnation, by which the server identifies a host whatever the host's name.
        var file: String
        /// The same for all links of a file on its machine, so that one link can replace another at once.
        var place: String
        /// The program and its version.
        var program: String
        /// A description of what the server, or the file, refuses to the link.
        var trouble: String?
    }

    /// A circuit that the host has opened by its own rule.
    struct OwnTrip: Sendable, Hashable {
        var circuit: String
        /// How long ago it tripped.
        var age: Int64
        var isHalfOpen: Bool
        var lastError: String?
    }

    /// Whether the server keeps what a host reports of itself alone.
    var keepsHostReports: Bool { self.schema >= FleetSchema.withHostReports }

    /// Sends this host's heartbeat, and reads as `read` does, in one statement.
    ///
    /// - Parameter rules: the description of each circuit's rules, by which operators compare hosts; nil if they are
    ///   the same as last time.
    /// - Parameter ownTrips: the circuits that the host has opened by its own rules; nil if they are the same as last
    ///   time.
    /// - Throws: `duplicateHost` while the link of another file has this host's name, and while a copy of this file is
    ///   joined. Then the statement writes nothing.
    func beat(
        _ link: Link, rules: ByName<String>? = nil, ownTrips: [OwnTrip]? = nil, reading names: Names,
        changedSince seen: String? = nil
    )
        throws(FleetError) -> Reading
    {
        let sent = ContinuousClock.now
        let circuits = rules.map { $0.sorted { $0.0 < $1.0 } }
        let own =
            self.keepsHostReports
            ? (
                columns: ", left_at, own_trips", values: ", NULL::bigint, own.trips",
                update: ", left_at = NULL, own_trips = CASE WHEN $12::text[] IS NULL THEN l.own_trips "
                    + "ELSE excluded.own_trips END"
            ) : (columns: "", values: "", update: "")
        let rows = try self.connection.run(
            """
            WITH \(Self.seen(at: 3)),
            reported AS (SELECT jsonb_object_agg(circuit, rule) AS rules FROM unnest($8::text[], $9::text[]) AS r (circuit, rule)),
            own AS (
                SELECT jsonb_build_object('session', $5, 'circuits', coalesce(jsonb_object_agg(circuit, jsonb_build_object(
                'since', greatest(0, t.now - age), 'state', state, 'error', error)), '{}')) AS trips
                FROM t, unnest($12::text[], $13::bigint[], $14::text[], $15::text[]) AS o (circuit, age, state, error)
            ),
            copy AS (
                SELECT host FROM fleet.link, t WHERE fleet = $1 AND file = $6 AND host <> $4 AND place <> $10
                AND abs(t.now - beat) < \(Self.beatLifetime) LIMIT 1
            ),
            beat AS (
                INSERT INTO fleet.link AS l (fleet, host, session, file, place, program, beat, rules, trouble, trouble_since\(own.columns))
                SELECT $1, $4, $5::bigint, $6, $10, $7, t.now, coalesce(reported.rules, '{}'), $11,
                CASE WHEN $11 IS NOT NULL THEN t.now END\(own.values) FROM t, reported, own
                WHERE NOT EXISTS (SELECT 1 FROM copy)
                ON CONFLICT (fleet, host) DO UPDATE SET session = excluded.session, file = excluded.file,
                place = excluded.place, program = excluded.program, beat = excluded.beat, trouble = excluded.trouble,
                trouble_since = CASE WHEN excluded.trouble IS NOT NULL AND l.trouble IS NOT NULL THEN l.trouble_since
                ELSE excluded.trouble_since END,
                rules = CASE WHEN $8::text[] IS NULL AND l.file = excluded.file THEN l.rules ELSE excluded.rules END\(own.update)
                WHERE l.place = excluded.place OR abs(excluded.beat - l.beat) >= \(Self.beatLifetime) RETURNING l.xmax = 0 AS is_new
            )
            SELECT \(Self.columns), EXISTS (SELECT 1 FROM beat), (SELECT host FROM copy), (SELECT is_new FROM beat)
            FROM t LEFT JOIN fleet.circuit AS c ON \(Self.wanted)
            """,
            [
                self.fleet, seen == nil ? ServerText.array(names.sorted()) : nil, seen, self.host, String(link.session),
                link.file, link.program, circuits.map { ServerText.array($0.map(\.0)) },
                circuits.map { ServerText.array($0.map { ServerText.cut($0.1) }) }, link.place,
                link.trouble.map { ServerText.cut($0) }, ownTrips.map { ServerText.array($0.map(\.circuit)) },
                ownTrips.map { ServerText.array($0.map { FleetLimits.duration($0.age) }) },
                ownTrips.map { ServerText.array($0.map { $0.isHalfOpen ? "half-open" : "open" }) },
                ownTrips.map { ServerText.array($0.map { $0.lastError.map { ServerText.cut($0) } }) },
            ])
        var reading = try self.reading(rows, of: names, sent: sent)
        // Only a row that was inserted has never been locked or updated.
        reading.isNewHost = rows.first?.flag(Self.columnCount + 2) ?? false
        guard rows.first?.flag(Self.columnCount) == true else {
            if let original = rows.first?.text(Self.columnCount + 1) {
                throw FleetError(
                    code: .duplicateHost,
                    message:
                        "this host's file is a copy of that of host \(ServerText.shown(original).quoted); move it, "
                        + "its -wal and -shm away: services start a new one")
            }
            throw FleetError(
                code: .duplicateHost,
                message: "another file's link is named \(self.host.quoted): rename one of them")
        }
        return reading
    }

    /// Records that this host has left; another file may take its name at once.
    ///
    /// The row stays until an operator forgets the host. Its heartbeat is moved back by a lifetime, so that links of
    /// all releases see that the name is free. A schema of version 2.0 can't tell such a row from that of a silent
    /// link: there it is deleted.
    func leave(_ link: Link) throws(FleetError) {
        let own = "fleet = $1 AND host = $2 AND session = $3::bigint"
        try self.connection.run(
            self.keepsHostReports
                ? """
                WITH \(Self.time)
                UPDATE fleet.link SET left_at = t.now, beat = greatest(0, t.now - \(Self.beatLifetime)), rules = '{}',
                own_trips = '{}', trouble = NULL, trouble_since = NULL
                FROM t WHERE \(own)
                """ : "DELETE FROM fleet.link WHERE \(own)",
            [self.fleet, self.host, String(link.session)])
    }

    /// Deletes the row of a host that is not joined, so that no status lists it; false if there is no such row.
    func forget(_ host: String) throws(FleetError) -> Bool {
        try !self.connection.run(
            """
            WITH \(Self.time)
            DELETE FROM fleet.link USING t
            WHERE fleet = $1 AND host = $2 AND abs(t.now - beat) >= \(Self.beatLifetime) RETURNING 1
            """, [self.fleet, host]
        ).isEmpty
    }
}
#endif
