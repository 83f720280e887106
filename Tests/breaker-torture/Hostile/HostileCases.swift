/// All cases of the long form, in the order of their kinds.
struct HostileCases {
    let all: [HostileCase]

    init(_ stock: HostileStock, _ random: inout SeededRandom) throws {
        var all = Mutations(stock).cases(&random)
        all += BadValues(stock).cases(&random)
        all += SchemaGames(stock).cases()
        let older = try stock.asOfSchema2()
        all += BadValues(older).cases(&random)
        all += SchemaGames(older).cases()
        all += SpecialFiles(stock).cases()
        all += OtherOwners(stock).cases()
        all += Surroundings(stock).cases()
        all += LargeFiles(stock).cases()
        self.all = all
    }

    /// What is tried each time, by the beginnings of their names: each stood for a defect once.
    private static let essentials = [
        "payloads: sql || '; ' || '$' with payload 0 as circuit",
        "payloads: sql || '; ' || '$' with payload 4 as clock",
        "payloads: sql || '; ' || '$' with payload 5 as event",
        "values: clock.boot = CAST(boot AS BLOB)", "values: worker.pid = 'no such word'",
        "values: circuit.state = 'no such word' of 'closed'", "values: circuit.rules = x'00' of 'closed'",
        "single bits: circuit.since = 4611686018427387904", "single bits: clock.offset = 4611686018427387904",
        "single bits: event.id = 4611686018427387904", "values: event.id = 9223372036854775807",
        "values: failure.at = 9223372036854775807", "schema: the last number of event is 9223372036854775807, log",
        "schema: a unique index on failure.circuit, log", "long texts: circuit.last_error of 100 MB",
        "sparse files: a log of 1099511627776 bytes with zero salts, log",
        "sparse files: nothing but 1099511627776 zeros",
        "sparse files: a log of 1099511627776 bytes, its header alone, and no index, log", "special files: a FIFO at",
        "special files: a dangling link at a.db-wal", "special files: a dangling link at a.db-board",
        "swaps: [\"a.db-board\"] of ", "special files while open: a FIFO at", "owners: ",
        "surroundings: ", "schema in 2.0: circuit has 'extra TEXT'", "schema in 2.0: circuit has 'rules TEXT'",
        "schema in 2.0: circuit has 1 MB of spaces",
    ]

    /// These, and another one of each kind.
    func short(_ random: inout SeededRandom) -> [HostileCase] {
        func isEssential(_ hostile: HostileCase) -> Bool {
            Self.essentials.contains { hostile.description.hasPrefix($0) }
        }
        let others = self.all.filter { !$0.isLarge && !isEssential($0) }.shuffled(using: &random)
        let groups = Dictionary(grouping: others) { $0.kind }
        return self.all.filter(isEssential) + groups.sorted { $0.key < $1.key }.flatMap { $0.value.prefix(1) }
    }
}
