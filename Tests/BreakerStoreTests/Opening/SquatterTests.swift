import Testing

@testable import BreakerStore

/// Somebody who may write to the files keeps their locks: a service that may go on without them starts all the same.
///
/// Real time: the waits for other processes go by it.
@Suite(.timeLimit(.minutes(10))) struct SquatterTests {
    private static let busyTimeout = Duration.milliseconds(100)

    /// What a squatter holds.
    enum Lock: CaseIterable {
        case setupLockByte, write, all
    }

    @Test(arguments: Lock.allCases, ["a store", "an empty file"])
    func doesNotHoldUpAnOpeningThatDegrades(lock: Lock, on file: String) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            if file == "a store" { try Stores.make(path) } else { Files.write([], to: path) }
            var squatter: Foreign?
            var lockFile: LockFile?
            switch lock {
            case .setupLockByte:
                let held = try LockFile(path: "\(path)-lock", creatingWith: 0o600, owner: nil)
                #expect(held.lock(worker: 0))
                lockFile = held
            case .write:
                squatter = Foreign(path, keepsLog: true)
                squatter?.run("BEGIN IMMEDIATE")
            case .all:
                squatter = Foreign(path, keepsLog: true)
                squatter?.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            }
            var configuration = CircuitStore.Configuration()
            configuration.whenUnavailable = .degrade
            configuration.busyTimeout = Self.busyTimeout
            configuration.firstRetry = .milliseconds(1)
            configuration.openingPatience = .seconds(600)
            var store: CircuitStore?
            let elapsed = try ContinuousClock().measure {
                store = try CircuitStore(path: path, configuration: configuration)
            }
            // The patience of an opening that does not degrade would have held the service up for ten minutes.
            #expect(elapsed < .seconds(300), "\(elapsed)")
            guard case .degraded(_, let error) = store?.health else {
                Issue.record("it is \(store?.health as Any)")
                return
            }
            #expect(error.code == .busy, "\(error)")
            #expect(store?.isHealthy == false)
            lockFile?.unlock(worker: 0)
            squatter = nil
            #expect(comesTrue { store?.isHealthy == true })
            store?.close()
        }
    }
}
