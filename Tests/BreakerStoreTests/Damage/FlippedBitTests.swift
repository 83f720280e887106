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

/// One flipped bit in a row keeps no circuit from tripping, and nobody from opening the store.
@Suite(.timeLimit(.minutes(10))) struct FlippedBitTests {
    /// A store in one file, without a log, with one circuit that has failed once and the row of a worker that was
    /// killed.
    private struct Specimen {
        let bytes: [UInt8]
        /// Where the cells of a table's only page lie.
        let cells: Range<Int>

        init(_ table: String, in directory: String) throws {
            let path = "\(directory)/specimen.db"
            let store = try CircuitStore(path: path, configuration: FlippedBitTests.configuration)
            let breaker = try store.breaker(FlippedBitTests.config)
            synchronously { breaker.recordFailure() }
            store.close()
            Foreign.run(
                path,
                """
                INSERT INTO worker VALUES (5000000000, 'killed', 77, NULL, 1); INSERT INTO registration VALUES (5000000000, 1);
                UPDATE circuit SET last_error = 'an error', hold_reason = NULL
                """)
            let root = Foreign.value(path, "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'")
            let page = try #require(root.flatMap(Int.init))
            self.bytes = try #require(Files.read(path))
            let start = (page - 1) * 4_096
            let content = Int(self.bytes[start + 5]) << 8 | Int(self.bytes[start + 6])
            self.cells = start + content..<start + 4_096
        }
    }

    private static var configuration: CircuitStore.Configuration {
        var configuration = CircuitStore.Configuration()
        configuration.whenUnavailable = .degrade
        configuration.busyTimeout = .hangLimit
        configuration.clock = ManualHostClock()
        configuration.firstRetry = .milliseconds(1)
        return configuration
    }

    private static let header = 12
    private static let config = Stores.config(maxFailures: 5)

    @Test(arguments: ["clock", "circuit", "worker", "registration", "failure"])
    func guardsAllTheSame(table: String) throws {
        try Files.withDirectory { directory in
            let specimen = try Specimen(table, in: directory)
            for (index, place) in specimen.cells.enumerated() {
                // What says how long the columns are comes first; of the values a bit each is enough here, and
                // 'make torture PART=hostile' tries them all.
                for bit in index < Self.header ? Array(0..<8) : [index % 8] {
                    var bytes = specimen.bytes
                    bytes[place] ^= 1 << bit
                    try self.check(bytes, "byte \(index) of \(table), bit \(bit)", "\(directory)/\(index)-\(bit)")
                }
            }
        }
    }

    private func check(_ bytes: [UInt8], _ what: String, _ directory: String) throws {
        _ = unsafe mkdir(directory, 0o700)
        defer { Files.remove(directory) }
        let path = "\(directory)/a.db"
        Files.write(bytes, to: path)
        Files.write(LockFile.magic, to: "\(path)-lock")
        for round in 0..<2 {
            let store = try CircuitStore(path: path, configuration: Self.configuration)
            defer { store.close() }
            let breaker = try store.breaker(Self.config)
            for _ in 0..<6 { synchronously { breaker.recordFailure() } }
            let isRefused = synchronously { (try? breaker.run {}) == nil }
            #expect(isRefused, "\(what), round \(round), \(store.health), \(breaker.state)")
            if !isRefused { return }
        }
        // An operator can close it again.
        let store = try CircuitStore(path: path, configuration: Self.configuration)
        defer { store.close() }
        #expect(throws: Never.self, "\(what)") { try store.reset(Self.config.name) }
    }
}
