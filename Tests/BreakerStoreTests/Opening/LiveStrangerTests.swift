import Testing

@testable import BreakerStore

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
            "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 4000; \(Strangers.log)",
            "INSERT INTO t VALUES (2)"
        ),
    ])
    func isLeftAlone(sql: String, afterwards: String) async {
        await #expect(processExitsWith: .success) { [sql, afterwards] in
            let isLater = sql.contains("user_version")
            try Files.withDirectory { directory in
                let end = try Forked.run { pause in
                    let connection = Foreign("\(directory)/a.db")
                    connection.run(sql)
                    pause()
                    connection.run(afterwards)
                    return connection.value("PRAGMA quick_check") == "ok" ? 0 : 1
                } besideItsPause: {
                    let bad = BadPathTests.Case(
                        "", isLater ? .newerSchema : .notAStore, isLater ? "4.0" : "another program"
                    ) { "\($0)/a.db" }
                    try bad.check(directory)
                }
                #expect(end == .exited(0))
            }
        }
    }

    /// Beside a worker an opening asks the log's index for the version, in place of all frames of the log.
    @Test func laterVersionInTheLogOfAUsedStoreIsRefused() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                let path = "\(directory)/a.db"
                let end = try Forked.run { pause in
                    guard let store = try? CircuitStore(path: path) else { return 1 }
                    pause()
                    return store.health == .closed ? 1 : 0
                } besideItsPause: {
                    // Told is the version, which is asked for before the tables are compared.
                    Foreign.run(path, "CREATE UNIQUE INDEX strange ON worker (pid); PRAGMA user_version = 4000")
                    let file = try StoreFile(resolving: path)
                    #expect(LockFile.content(at: file.lock).hasWorkers)
                    #expect(throws: BreakerStoreError.self) { try OpeningFacts.isStore(file) }
                    let isStore = try OpeningFacts.isStore(file, trustsHeader: true)
                    #expect(isStore, "the log is not walked")
                    let before = [Files.read(path), Files.read(file.log)]
                    for access in [Access.readWrite, .existing] {
                        do throws(BreakerStoreError) {
                            _ = try Backend(path: path, configuration: Stores.configuration(access))
                            Issue.record("opened with \(access)")
                        } catch {
                            #expect(error.code == .newerSchema, "\(error)")
                            #expect(error.message.contains("4.0"), "\(error)")
                        }
                        #expect([Files.read(path), Files.read(file.log)] == before)
                    }
                }
                #expect(end == .exited(0))
                #expect(!LockFile.content(at: path + "-lock").hasWorkers)
            }
        }
    }
}
