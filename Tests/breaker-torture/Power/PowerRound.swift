import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One recorded run, and cuts of its power.
struct PowerRound {
    private struct Failed: Error {
        let what: String
    }

    /// Of the cuts, so many are where nothing in particular happens.
    private static let randomShare = 4
    private static let shortPlaces = 45

    private let plan: PowerPlan
    private let directory: String
    private let fault: PowerFault?
    private let isShort: Bool
    private(set) var counts: [(what: String, count: Int)] = []
    private(set) var violations: [String] = []
    /// What one of the cuts has left.
    private(set) var remainder: PowerRemainder?
    /// The database with which the run begins, if that must be set aside.
    private var broken: [UInt8]?
    /// The boot of the host in which the run is.
    private var boots = 1

    /// Where the processes have their files.
    private let store: String
    /// How many bytes of the record there are up to the end of each of the records.
    private var bytes: [Int] = []
    private var scratch: String { self.directory + "/scratch" }
    /// Says which cut is tried, for whoever finds this process dead.
    static func note(in directory: String) -> String { directory + "/cut" }

    /// - Parameter store: where the processes have their files; by default in `directory`.
    init(
        _ plan: PowerPlan,
        in directory: String,
        store: String? = nil,
        without fault: PowerFault?,
        isShort: Bool
    ) {
        self.plan = plan
        self.directory = directory
        self.store = store ?? directory + "/store"
        self.fault = fault
        self.isShort = isShort
    }

    private mutating func add(_ count: Int, _ what: String) { self.counts.append((what, count)) }

    /// - Parameter remainder: what an earlier cut has left.
    mutating func run(from remainder: PowerRemainder?, seed: UInt64) async throws {
        try self.prepare(remainder)
        let disk = try PowerDisk(self.store)
        let records = try await self.record()
        try self.checkIsWhole(records, disk)
        let (shown, suspects) = self.fault?.applied(to: records, on: disk) ?? (records, nil)
        let references = try self.references(shown, disk)
        try self.cut(shown, at: suspects, disk, references, seed)
    }

    /// A run on a real file system, of which copies are taken meanwhile.
    ///
    /// - Parameters:
    ///   - settle: called when the files are there with which the run begins.
    ///   - meanwhile: called while the processes run, with the path of the record; returns when they have ended.
    /// - Returns: what judges the files of a copy.
    mutating func runForReal(
        from remainder: PowerRemainder?,
        settle: () -> Void,
        meanwhile: @escaping @Sendable (String) async throws -> Void
    ) async throws -> (PowerCopy, inout Self) throws -> [String] {
        try self.prepare(remainder)
        settle()
        let disk = try PowerDisk(self.store)
        let records = try await self.record(meanwhile)
        try self.checkIsWhole(records, disk)
        self.bytes = records.reduce(into: []) { $0.append(($0.last ?? 0) + $1.length) }
        let references = try self.references(records, disk)
        return { copy, round in try round.faults(of: copy, references, round.isBroken(copy.files)) }
    }

    /// Whether the database is still the one that must be set aside.
    func isBroken(_ files: [String: [UInt8]]) -> Bool {
        self.broken != nil && FileBytes.areEqual(files["a.db"], self.broken)
    }

    /// What a cut has left, for a later run.
    func remainder(of files: [String: [UInt8]]) -> PowerRemainder {
        PowerRemainder(files: files, isBroken: self.isBroken(files), boots: self.boots)
    }

    /// How many records there are in so many bytes.
    func number(ofByte bytes: Int) -> Int { self.bytes.prefix { $0 <= bytes }.count }

    mutating func add(_ violation: String) { self.violations.append(violation) }

    private mutating func references(_ records: [PowerRecord], _ disk: PowerDisk) throws -> PowerReferences {
        let references = try PowerReferences(records, on: disk, self.plan.durability) { try self.look(at: $0) }
        self.add(1, "runs")
        self.add(references.commitCount, "commits")
        self.add(references.acknowledged.count, "acknowledged changes that must survive")
        self.add(records.count { if case .syncEnd = $0.change { true } else { false } }, "syncs")
        return references
    }

    // MARK: - The run

    private mutating func prepare(_ remainder: PowerRemainder?) throws {
        try self.makeFiles(remainder)
        self.boots = (remainder?.boots ?? 0) + 1
        guard self.plan.scene == .quarantine || remainder?.isBroken ?? false else { return }
        self.broken = FileBytes.read(self.store + "/a.db")
    }

    private func makeFiles(_ remainder: PowerRemainder?) throws {
        try PowerJudge.put(remainder?.files ?? [:], in: self.store)
        let path = self.store + "/a.db"
        switch self.plan.scene {
        case .creation, .full, .again: return
        case .migration:
            guard StoreFile.makeOld(path) else { throw SystemError("make an old store") }
        case .calls, .quarantine:
            try Self.makeStore(path)
            if self.plan.scene == .quarantine {
                try Self.garble(path)
            } else if self.plan.seed.isMultiple(of: 2) {
                // As the sqlite3 shell leaves it that is the last to close it: the first to open it makes another log.
                SQLiteFile.checkpoint(path)
                for side in ["-wal", "-shm"] { unsafe unlink(path + side) }
            }
        }
    }

    private static func makeStore(_ path: String) throws {
        let store = try CircuitStore(path: path, configuration: CircuitStore.Configuration())
        for config in PowerWorker.configs { _ = try store.breaker(config).recordFailure() }
        store.close()
    }

    /// Spoils the pages of the tables, in database and log.
    private static func garble(_ path: String) throws {
        SQLiteFile.checkpoint(path)
        guard var bytes = FileBytes.read(path) else { throw SystemError("read \(path)") }
        for page in 1..<8 { for place in 0..<64 { bytes[page * 4_096 + place] = 0xA5 } }
        try FileBytes.write(bytes, to: path)
    }

    private func record(
        _ meanwhile: (@Sendable (String) async throws -> Void)? = nil
    ) async throws -> [PowerRecord] {
        let record = self.directory + "/record"
        let clock = self.directory + "/clock"
        for path in [record, clock] { unsafe unlink(path) }
        let shared = try SharedClock(path: clock)
        // A host whose power went boots anew. In the same boot its clock would go back.
        for _ in 1..<self.boots { shared.reboot(downFor: .seconds(60)) }
        let workers = try (0..<self.plan.workers).map { number in
            try WorkerProcess(
                program: "breaker-torture",
                arguments: ["role", Role.powerWorker.rawValue, self.store, record, clock]
                    + self.plan.words(worker: number) + (meanwhile == nil ? [] : [self.fault?.rawValue ?? "nothing"]))
        }
        defer { for worker in workers { worker.clear() } }
        let copying = Task { try await meanwhile?(record) }
        for worker in workers {
            let code = await worker.end()
            guard code == 0 else { throw Failed(what: "a recorded process ended with \(code)") }
        }
        copying.cancel()
        try await copying.value
        return try PowerRecord.all(in: record)
    }

    /// All that the processes changed must be in the record, or the cuts say nothing.
    private mutating func checkIsWhole(_ records: [PowerRecord], _ disk: PowerDisk) throws {
        var disk = disk
        for (number, record) in records.enumerated() { disk.apply(record, number: number) }
        let names = Directory.names(in: self.store).filter { !PowerDisk.isIndex($0) }
        let recorded = disk.current
        if names != recorded.keys.sorted() {
            self.violations.append("the record ends with \(recorded.keys.sorted()), but there are \(names)")
        }
        for name in names {
            let (found, expected) = (FileBytes.read("\(self.store)/\(name)") ?? [], recorded[name] ?? [])
            // Processes add to the board in memory, of which the record knows nothing, and no board outlives its boot.
            guard !name.hasSuffix("-board"), !FileBytes.areEqual(found, expected) else { continue }
            let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? -1
            self.violations.append(
                "the record does not lead to the bytes of \(name): \(expected.count) of \(found.count), from \(place)")
        }
    }

    private func look(at files: [String: [UInt8]]) throws -> PowerLook {
        try PowerJudge.put(files, in: self.scratch)
        return PowerLook(self.scratch + "/a.db", isChecked: false)
    }

    // MARK: - Cuts

    /// The numbers of records before which the power goes: around each sync, after each acknowledgement and each
    /// change of names, and anywhere.
    private func places(_ records: [PowerRecord], _ random: inout SeededRandom) -> [Int] {
        var places: [Int] = []
        var changes: [Int] = []
        for (number, record) in records.enumerated() {
            switch record.change {
            case .mark(let text): if text.hasPrefix("done"), text.hasSuffix(" 1") { places.append(number + 1) }
            case .syncBegin: places.append(number)
            case .syncEnd: places += [number, number + 1]
            case .rename, .unlink, .create: places += [number, number + 1]
            case .write, .resize: changes.append(number)
            }
        }
        for _ in 0..<max(40, places.count / Self.randomShare) {
            places.append(changes.randomElement(using: &random) ?? 0)
        }
        guard self.isShort, self.fault == nil else { return places.sorted() }
        return places.shuffled(using: &random).prefix(Self.shortPlaces).sorted()
    }

    /// - Parameter suspects: the only places at which there is something to find; nil if that may be anywhere.
    private mutating func cut(
        _ records: [PowerRecord],
        at suspects: Set<Int>?,
        _ disk: PowerDisk,
        _ references: PowerReferences,
        _ seed: UInt64
    ) throws {
        var disk = disk
        var random = SeededRandom(seed: seed)
        var next = 0
        let places = self.places(records, &random).filter { suspects?.contains($0) ?? true }
        let kept = places.randomElement(using: &random)
        for place in places {
            while next < place {
                disk.apply(records[next], number: next)
                next += 1
            }
            guard self.isShort ? self.violations.isEmpty : self.violations.count < 20 else { return }
            var cut = PowerCut(seed: random.next(), numbers: 0..<place, isLoose: true)
            let description = "before \(place) (\(place < records.count ? "\(records[place])" : "the end")), \(cut)"
            try FileBytes.write(Array(description.utf8), to: Self.note(in: self.directory))
            let left = disk.left(by: &cut)
            let isBroken = self.isBroken(left)
            if place == kept { self.remainder = self.remainder(of: left) }
            // A hang is as bad as a death.
            alarm(120)
            for fault in try self.faults(of: left, references, place, isBroken) {
                let names = left.sorted { $0.key < $1.key }.map { "\($0.key) of \($0.value.count)" }
                self.violations.append("\(self.plan.description): cut \(description): \(fault); \(names)")
            }
            alarm(0)
            self.add(1, "states")
            self.add(1, "states with \(cut.data)")
        }
    }

    private func faults(
        of left: [String: [UInt8]],
        _ references: PowerReferences,
        _ place: Int,
        _ isBroken: Bool
    ) throws -> [String] {
        let (look, faults) = try self.faults(of: left, references, place, place, isBroken)
        let judge = try PowerJudge(left, in: self.scratch)
        return faults + judge.faults(look, mayMove: isBroken)
    }

    /// The files of a copy are used where they are: on the file system that has just been mounted.
    private func faults(of copy: PowerCopy, _ references: PowerReferences, _ isBroken: Bool) throws -> [String] {
        let (look, faults) = try self.faults(of: copy.files, references, copy.begun, copy.ended, isBroken)
        return faults + PowerJudge(copy.files, areIn: copy.directory).faults(look, mayMove: isBroken)
    }

    /// What SQLite alone finds in copies of the files.
    private func faults(
        of left: [String: [UInt8]],
        _ references: PowerReferences,
        _ begun: Int,
        _ ended: Int,
        _ isBroken: Bool
    ) throws -> (PowerLook, [String]) {
        try PowerJudge.put(left.filter { !PowerDisk.isIndex($0.key) }, in: self.scratch)
        let look = PowerLook(self.scratch + "/a.db")
        var faults: [String] = []
        if !isBroken || references.hasAcknowledged(before: begun) {
            faults += look.problems.prefix(2).map { "SQLite says: \($0)" }
            if let fault = references.fault(of: look, after: begun, atMost: ended) { faults.append(fault) }
        }
        return (look, faults)
    }
}
