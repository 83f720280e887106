import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A database that another process has open: looking at it must change nothing, neither on disk nor for that process.
@Suite(.timeLimit(.minutes(10))) struct LiveStrangerTests {
    @Test(arguments: [
        (Strangers.log, "INSERT INTO t VALUES (2)"),
        ("\(Strangers.log); PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES (2)"),
        ("\(Strangers.log); BEGIN IMMEDIATE; INSERT INTO t VALUES (3)", "COMMIT"),
        ("\(Strangers.rollback); BEGIN IMMEDIATE; INSERT INTO t VALUES (3)", "COMMIT"),
        (Strangers.hot, "COMMIT"),
        ("\(Strangers.rollback); BEGIN EXCLUSIVE", "COMMIT"),
        (
            "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 2000; \(Strangers.log)",
            "INSERT INTO t VALUES (2)"
        ),
    ])
    func isLeftAlone(sql: String, afterwards: String) async {
        await #expect(processExitsWith: .success) { [sql, afterwards] in
            let isLater = sql.contains("user_version")
            try Files.withDirectory { directory in
                var forth: [Int32] = [0, 0]
                var back: [Int32] = [0, 0]
                unsafe pipe(&forth)
                unsafe pipe(&back)
                var byte: UInt8 = 0
                let writer = Forked.start {
                    let connection = Foreign("\(directory)/a.db")
                    connection.run(sql)
                    unsafe write(forth[1], &byte, 1)
                    unsafe read(back[0], &byte, 1)
                    connection.run(afterwards)
                    return connection.value("PRAGMA quick_check") == "ok" ? 0 : 1
                }
                unsafe read(forth[0], &byte, 1)
                let bad = BadPathTests.Case(
                    "", isLater ? .newerSchema : .notAStore, isLater ? "2.0" : "another program"
                ) { "\($0)/a.db" }
                try bad.check(directory)
                unsafe write(back[1], &byte, 1)
                #expect(Forked.wait(for: writer) == .exited(0))
            }
        }
    }
}
