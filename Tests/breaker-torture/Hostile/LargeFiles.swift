import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files that say, or are, far more than a store ever holds.
struct LargeFiles {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    func cases() -> [HostileCase] { self.sparse() + self.texts() + self.rows() }

    private static let tebibyte = off_t(1) << 40

    // MARK: - Sparse files

    /// A copy of such a file would fill the disk: the tool may write a little.
    private static let limit = ["prlimit", "--fsize=\(256 << 20)", "--"]

    private func sparse() -> [HostileCase] {
        let sizes = [off_t(1) << 30, Self.tebibyte]
        return sizes.flatMap { size in
            self.stock.stores.flatMap { store in
                [
                    self.sparse("a.db of \(size) bytes", store) { try Self.resize($0.path, size) },
                    self.sparse("a.db of \(size) bytes that says so, \(store.name)", store) { place in
                        try Self.resize(place.path, size)
                        // https://sqlite.org/fileformat2.html#in_header_database_size
                        try Self.put([0x0f, 0xff, 0xff, 0xff], place.path, at: 28)
                    },
                    self.sparse("a log of \(size) bytes", store) { try Self.resize($0.path + "-wal", size) },
                    self.sparse("a log of \(size) bytes without an index", store) { place in
                        try Self.resize(place.path + "-wal", size)
                        Directory.remove(place.path + "-shm")
                    },
                    self.sparse("a log of \(size) bytes and its header alone", store) { place in
                        try Self.resize(place.path + "-wal", 32)
                        try Self.resize(place.path + "-wal", size)
                    },
                    self.sparse("a log of \(size) bytes, its header alone, and no index", store) { place in
                        try Self.resize(place.path + "-wal", 32)
                        try Self.resize(place.path + "-wal", size)
                        Directory.remove(place.path + "-shm")
                    },
                    self.sparse("a log of \(size) bytes with zero salts", store) { place in
                        try Self.resize(place.path + "-wal", 16)
                        try Self.resize(place.path + "-wal", size)
                    },
                    self.sparse("a log of \(size) bytes with zero salts and no index", store) { place in
                        try Self.resize(place.path + "-wal", 16)
                        try Self.resize(place.path + "-wal", size)
                        Directory.remove(place.path + "-shm")
                    },
                    self.sparse("a log of \(size) zeros without an index", store) { place in
                        try Self.resize(place.path + "-wal", 0)
                        try Self.resize(place.path + "-wal", size)
                        Directory.remove(place.path + "-shm")
                    },
                    self.sparse("an index of \(size) bytes", store) { try Self.resize($0.path + "-shm", size) },
                    self.sparse("a board of \(size) bytes", store) { try Self.resize($0.path + "-board", size) },
                    self.sparse("a board of \(size) zeros", store) { place in
                        try FileBytes.write([], to: place.path + "-board")
                        try Self.resize(place.path + "-board", size)
                    },
                    self.sparse("a lock file of \(size) bytes", store) { try Self.resize($0.path + "-lock", size) },
                    self.sparse("nothing but \(size) zeros", store) { place in
                        for outcome in ["", "-wal", "-shm"] { Directory.remove(place.path + outcome) }
                        try FileBytes.write([], to: place.path)
                        try Self.resize(place.path, size)
                    },
                ]
            }
        }
    }

    private func sparse(
        _ name: String, _ store: StoreBytes, _ make: @escaping @Sendable (HostilePlace) throws -> Void
    ) -> HostileCase {
        let stock = self.stock
        var made = HostileCase(kind: "sparse files", name: "\(name), \(store.name)") { place in
            try stock.put(store, place)
            try make(place)
        }
        made.isLarge = true
        #if os(Linux)
        made.launcher = Self.limit
        made.judge = { _, runs in
            let reason = unsafe String(cString: strerror(EFBIG))
            return runs.filter { $0.said.contains(reason) }.map { "'\($0.words[0])' copied the file: \($0.said)" }
        }
        #endif
        return made
    }

    private static func resize(_ path: String, _ size: off_t) throws {
        guard unsafe truncate(path, size) == 0 else { throw SystemError("resize \(path)") }
    }

    private static func put(_ bytes: [UInt8], _ path: String, at place: off_t) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open \(path)") }
        defer { close(descriptor) }
        guard unsafe pwrite(descriptor, bytes, bytes.count, place) == bytes.count else {
            throw SystemError("write \(path)")
        }
    }

    // MARK: - Long texts and many rows

    private static let megabyte = 1 << 20

    private func texts() -> [HostileCase] {
        let columns = self.stock.tables.flatMap { table in
            table.columns.filter { $0.type == "TEXT" }.map { (table, $0.name) }
        }
        let sizes = columns.map { ($0.0, $0.1, 100 * Self.megabyte, false) }
        // Invalid bytes become three each.
        let worst = columns.filter { ["last_error", "reason"].contains($0.1) }.flatMap {
            [($0.0, $0.1, 500 * Self.megabyte, false), ($0.0, $0.1, 750 * Self.megabyte, true)]
        }
        return (sizes + worst).map { table, column, size, isNoise in
            let stock = self.stock
            let value = isNoise ? "CAST(randomblob(\(size)) AS TEXT)" : "hex(zeroblob(\(size / 2)))"
            let change =
                "UPDATE \(table.name) SET \(column) = \(value) WHERE rowid = (SELECT max(rowid) FROM \(table.name))"
            var made = HostileCase(
                kind: "long texts", name: "\(table.name).\(column) of \(size >> 20) MB\(isNoise ? " of noise" : "")"
            ) { place in
                // The limit of a length that SQLite is built with.
                try stock.put(stock.stores[1], place, table.loosened([change]))
            }
            made.isLarge = true
            return made
        }
    }

    private func rows() -> [HostileCase] {
        let count = 1_000_000
        let numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT \(count))"
        let closed = "(SELECT id FROM circuit WHERE name = 'closed')"
        let inserts = [
            ("failures", "INSERT INTO failure \(numbers) SELECT \(closed), x, 5, x FROM c"),
            (
                "probes",
                "INSERT INTO probe \(numbers) SELECT \(closed), x, 5, NULL, NULL, 1, 9223372036854775807 FROM c"
            ),
            ("workers", "INSERT INTO worker \(numbers) SELECT x, 'w', 1, NULL, 1 FROM c"),
            ("registrations", "INSERT INTO registration \(numbers) SELECT x, \(closed) FROM c"),
            (
                "events",
                "INSERT INTO event (circuit, kind, at) \(numbers) SELECT 'closed', 'tripped', 1 FROM c"
            ),
            ("clocks", "INSERT INTO clock \(numbers) SELECT x + 1, 'b', 1, 1, 1 FROM c"),
        ]
        let stock = self.stock
        return inserts.map { name, insert in
            var made = HostileCase(kind: "many rows", name: "\(count) \(name)") { place in
                try stock.put(stock.stores[1], place, [insert])
            }
            made.isLarge = true
            return made
        }
    }
}
