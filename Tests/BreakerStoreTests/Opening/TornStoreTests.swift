import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Damage of single bytes, each of which once made a store unusable for good or went unnoticed.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct TornStoreTests {
    static let pageSize = 4_096

    /// A store with one circuit, "a"; the database alone has all of it.
    private static func make() throws -> String {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        Foreign.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        return path
    }

    private static func change(_ path: String, _ body: (inout [UInt8]) throws -> Void) throws {
        var bytes = try #require(Files.read(path))
        try body(&bytes)
        Files.write(bytes, to: path)
    }

    private static func put(_ text: String, over old: String, in path: String) throws {
        try self.change(path) { bytes in
            let place = try Self.place(of: old, in: bytes)
            bytes.replaceSubrange(place..<place + old.utf8.count, with: text.utf8)
        }
    }

    private static func place(of text: String, in bytes: [UInt8]) throws -> Int {
        let text = Array(text.utf8)
        return try #require(bytes.indices.first { bytes[$0...].starts(with: text) })
    }

    private static var asideNames: [String] {
        get throws { try Files.quarantine(in: Workplace.here.directory).filter { $0.hasPrefix("a.db.") } }
    }

    /// A reader finds nothing wrong with some of the texts, a writer does.
    @Test(arguments: [
        "changed check", "changed space", "no text", "lone quote", "unknown format", "write version", "free list",
    ])
    func unusableStoreIsReplaced(what: String) throws {
        let path = try Self.make()
        switch what {
        case "changed check": try Self.put("(tripz >= 0)", over: "(trips >= 0)", in: path)
        case "changed space": try Self.put("CHECK (trips$>= 0)", over: "CHECK (trips >= 0)", in: path)
        case "no text": try Self.change(path) { try $0[Self.place(of: "trips >= 0", in: $0) + 5] ^= 0x80 }
        case "lone quote": try Self.put("CHECK (trips\">= 0)", over: "CHECK (trips >= 0)", in: path)
        case "unknown format": try Self.change(path) { $0[47] ^= 64 }
        case "write version": try Self.change(path) { $0[18] ^= 64 }
        default: try Self.breakFreeList(path)
        }
        let broken = Files.read(path)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        let kept = try #require(try Self.asideNames.first)
        #expect(Files.read("\(try Workplace.here.directory)/\(kept)") == broken)
        let breaker = try store.breaker(Stores.config())
        for _ in 0..<2 { breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
        #expect(store.isHealthy)
    }

    /// The first page of the list of free ones.
    private static func breakFreeList(_ path: String) throws {
        try self.change(path) { bytes in
            let page = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
            for place in (page - 1) * Self.pageSize..<page * Self.pageSize { bytes[place] = 0 }
        }
    }

    /// A checkpoint that was cut short: the log has the whole page.
    @Test(arguments: [0, 68, 512])
    func tornFirstPageIsInTheLog(begin: Int) throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        // So that the first page is in the log: a new table changes it.
        Foreign(path, keepsLog: true).run("CREATE TABLE more (x)")
        try Self.change(path) { bytes in for place in begin..<Self.pageSize { bytes[place] = 0 } }
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(store.isHealthy)
        #expect(try store.circuits().map(\.name) == ["a"])
        #expect(try Self.asideNames.isEmpty)
    }

    /// The version in the database's first page is garbled, that in the log's is whole.
    @Test(arguments: [false, true]) func garbledVersionIsInTheLog(hasWorkers: Bool) throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        Foreign(path, keepsLog: true).run("CREATE TABLE more (x)")
        try Self.change(path) { $0[61] ^= 16 }
        let lock = try LockFile(path: path + "-lock", creatingWith: nil, owner: nil)
        if hasWorkers { #expect(lock.lock(worker: LockFile.workers.lowerBound)) }
        #expect(LockFile.content(at: path + "-lock").hasWorkers == hasWorkers)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        #expect(try store.circuits().map(\.name) == ["a"])
    }

    /// What SQLite passes over counts as empty; a reader that may not write the index would look for it for ten
    /// seconds.
    @Test(arguments: [0, 8, 20, 31])
    func logWithABrokenHeader(place: Int) throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        try Self.change(path + "-wal") { $0[place] ^= 1 }
        for access in [Access.readOnly, .readWrite] {
            let store = try CircuitStore(path: path, configuration: Stores.configuration(access))
            defer { store.close() }
            #expect(try store.circuits().allSatisfy { $0.name == "a" })
        }
    }

    /// Only who looks at the history reads these pages.
    @Test func damageThatAReadMeets() async throws {
        let path = try Self.make()
        do {
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            defer { store.close() }
            let breaker = try store.breaker(Stores.config())
            for place in 0..<30 { try await breaker.reset(reason: "\(place) " + String(repeating: "x", count: 400)) }
        }
        Foreign.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        // An old event's page.
        let text = Array("3 xxxxxxxx".utf8)
        try Self.change(path) { bytes in
            let found = try #require(bytes.indices.first { bytes[$0...].starts(with: text) })
            let page = found / Self.pageSize * Self.pageSize
            for place in page..<page + Self.pageSize { bytes[place] = 0 }
        }
        #expect(await eventually { (try? store.history(limit: 1_000)) != nil && store.isHealthy })
        #expect(try Self.asideNames.count == 1)
    }
}
