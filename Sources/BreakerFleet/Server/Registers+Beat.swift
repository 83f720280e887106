#if PostgreSQL
import BreakerStore

extension Registers {
    /// A link whose last beat is older does not answer for its host's name any more.
    static let beatHolds: Int64 = 5_000_000

    /// Which link says that it is there.
    struct Link: Sendable, Hashable {
        /// Of this run of the link.
        var session: Int64
        /// Which file it is for: the same for all links of a file, another one for each other file.
        var file: String
        /// The program and its version.
        var program: String
    }

    /// Says that this host is there, and reads as `read` does, in one statement.
    ///
    /// Throws `duplicateHost` while the link of another file goes by this host's name.
    ///
    /// - Parameter rules: the rule of each circuit in words, which are held against those of other hosts; nil for as
    ///   they were told last.
    func beat(
        _ link: Link, rules: [String: String]? = nil, reading names: Set<String>, changedSince seen: String? = nil
    )
        throws(FleetError) -> Reading
    {
        let sent = ContinuousClock.now
        let circuits = rules.map { $0.sorted { $0.key < $1.key } }
        let rows = try self.connection.run(
            """
            WITH \(Self.seen(at: 3)),
            told AS (SELECT jsonb_object_agg(circuit, rule) AS rules FROM unnest($8::text[], $9::text[]) AS r (circuit, rule)),
            beat AS (
                INSERT INTO fleet.link AS l (fleet, host, session, file, program, beat, rules)
                SELECT $1, $4, $5::bigint, $6, $7, t.now, coalesce(told.rules, '{}') FROM t, told
                ON CONFLICT (fleet, host) DO UPDATE SET session = excluded.session, file = excluded.file,
                program = excluded.program, beat = excluded.beat,
                rules = CASE WHEN $8::text[] IS NULL AND l.file = excluded.file THEN l.rules ELSE excluded.rules END
                WHERE l.file = excluded.file OR abs(excluded.beat - l.beat) >= \(Self.beatHolds) RETURNING 1
            )
            SELECT \(Self.columns), EXISTS (SELECT 1 FROM beat) FROM t LEFT JOIN fleet.circuit AS c ON \(Self.wanted)
            """,
            [
                self.fleet, seen == nil ? ServerText.array(names.sorted()) : nil, seen, self.host, String(link.session),
                link.file, link.program, circuits.map { ServerText.array($0.map(\.key)) },
                circuits.map { ServerText.array($0.map { ServerText.cut($0.value) }) },
            ])
        let reading = try self.reading(rows, of: names, sent: sent)
        guard rows.first?.flag(Self.columnCount) == true else {
            throw FleetError(
                code: .duplicateHost, message: "another file's link goes by the host name \(self.host.quoted)")
        }
        return reading
    }

    /// Says that this host is there no longer: another file may take its name at once.
    func leave(_ link: Link) throws(FleetError) {
        try self.connection.run(
            "DELETE FROM fleet.link WHERE fleet = $1 AND host = $2 AND file = $3 AND session = $4::bigint",
            [self.fleet, self.host, link.file, String(link.session)])
    }
}
#endif
