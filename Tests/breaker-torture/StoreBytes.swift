import BreakerStore
import BreakerTestSupport

/// The files of a store as a process leaves them that dies: with its worker's row, and a log that nobody has copied.
struct StoreBytes {
    let name: String
    let files: [Damage.File: [UInt8]]
    let lock: [UInt8]
    let schema: [String]?

    /// - Parameters:
    ///   - isCopied: whether the log has been copied into the database.
    ///   - fill: makes the circuits; what it returns lives until the files have been read.
    init(
        _ name: String,
        in directory: String,
        isCopied: Bool,
        fill: (CircuitStore) throws -> Any = Self.fill
    ) throws {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .seconds(20)
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let kept = try fill(store)
        if isCopied { SQLiteFile.checkpoint(path) }
        self.init(name, in: directory, lock: FileBytes.read(path + "-lock") ?? [])
        withExtendedLifetime(kept) {}
    }

    /// The files that are there.
    init(_ name: String, in directory: String, lock: [UInt8]) {
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2"
        self.schema = SQLiteFile(directory + "/a.db").rows(schema)
        self.name = name
        var files: [Damage.File: [UInt8]] = [:]
        for file in Damage.File.allCases { files[file] = FileBytes.read("\(directory)/\(file.rawValue)") }
        self.files = files
        self.lock = lock
    }

    private static func fill(_ store: CircuitStore) throws -> Any {
        let breakers = try TornCircuits.names.map { try store.breaker(TornCircuits.config($0)) }
        for _ in 0..<2 { breakers[0].recordFailure() }
        for _ in 0..<3 { breakers[1].recordFailure() }
        try store.hold("held", .open, by: "torture", reason: "to be found again")
        for _ in 0..<20 { breakers[3].recordFailure() }
        // So much that it takes pages, which changes the first one too.
        let filler = String(repeating: "x", count: 400)
        for place in 0..<20 { try store.reset("consecutive", by: "torture", reason: "round \(place) \(filler)") }
        return breakers
    }

    /// Puts the files into a directory, one of them damaged; returns their bytes.
    func write(to directory: String, _ damage: Damage?) throws -> [Damage.File: [UInt8]] {
        var files = self.files
        if let damage { damage.apply(to: &files[damage.file, default: []]) }
        for (file, bytes) in files { try FileBytes.write(bytes, to: "\(directory)/\(file.rawValue)") }
        try FileBytes.write(self.lock, to: "\(directory)/a.db-lock")
        return files
    }
}
