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

/// Which SQLite the processes of a test have loaded, and which ones the library refuses.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SQLiteVersionTests {
    /// The one that `make versions` means; otherwise the one of this process.
    private static var expected: String {
        unsafe getenv("BREAKER_SQLITE").map { unsafe String(cString: $0) } ?? Versions.sqlite
    }

    @Test func allProcessesHaveTheSame() async throws {
        #expect(Versions.sqlite == Self.expected)
        let place = try Workplace.here
        await #expect(processExitsWith: .success) { [expected = Self.expected as String] in
            #expect(Versions.sqlite == expected)
        }
        let worker = try place.worker()
        try await worker.ask("open \(place.store)")
        let reply = try await worker.ask("query \(place.store) SELECT sqlite_version()")
        #expect(reply["row"] == Self.expected)
    }

    @Test(
        arguments: [
            (3_034_001, "3.34.1"), (3_036_000, "3.36.0"), (3_037_000, nil), (3_037_002, nil), (3_040_001, nil),
            (3_051_003, nil), (4_000_000, nil),
        ] as [(Int32, String?)])
    func olderThanItsTablesIsRefused(version: Int32, name: String?) {
        let refusal = Versions.refusal(of: version, path: "/a.db")
        #expect(refusal?.code == (name == nil ? nil : .unavailable))
        #expect(refusal?.message == name.map { "SQLite \($0) is too old for a store" })
        #expect(refusal?.path == (name == nil ? nil : "/a.db"))
    }
}
