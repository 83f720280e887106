import BreakerTestSupport
import CTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where the directory's stamp stands for the files, a file that is taken away is still noticed by the next commit.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SettledDirectoryTests {
    /// What may become of a name.
    enum Fate: CaseIterable {
        case removed, renamed, replaced, exchanged, directoryReplaced

        /// - Parameter path: a file of the store in `directory`.
        func befall(_ path: String, in directory: String) {
            let other = directory + "/other"
            switch self {
            case .removed: #expect(unsafe unlink(path) == 0)
            case .renamed: #expect(unsafe rename(path, other) == 0)
            case .replaced:
                Files.write([], to: other)
                #expect(unsafe rename(other, path) == 0)
            case .exchanged:
                Files.write([], to: other)
                #expect(unsafe ts_exchange(path, other) == 0)
            case .directoryReplaced:
                #expect(unsafe rename(directory, directory + "-old") == 0)
                #expect(unsafe mkdir(directory, 0o700) == 0)
            }
        }
    }

    @Test(arguments: Fate.allCases) func isNoticed(_ fate: Fate) async throws {
        let place = try Workplace.here
        // At once, for each waits until its directory has settled.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for ending in ["", "-wal", "-shm"] {
                group.addTask { try await self.check(fate, of: ending, in: place.directory + "/store\(ending)") }
            }
            try await group.waitForAll()
        }
    }

    private func check(_ fate: Fate, of ending: String, in directory: String) async throws {
        #expect(unsafe mkdir(directory, 0o700) == 0)
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let core = try #require(store.backend.core)
        // File systems stamp by two seconds at most: the stamp of a directory that is older tells of each change.
        let befell = Locked(false)
        func commit() throws {
            try core.commit(until: Deadline(after: .seconds(20))) { (transaction) throws(BreakerStoreError) in
                try transaction.database.run("UPDATE worker SET since = since - 1")
                guard core.writer.settledDirectory != nil else { return }
                fate.befall(path + ending, in: directory)
                befell.withLock { $0 = true }
            }
        }
        await #expect(throws: BreakerStoreError.self, "\(ending)") {
            while true {
                try commit()
                try await Task.sleep(for: .milliseconds(20))
                if befell.withLock({ $0 }) { break }
            }
        }
        #expect(befell.withLock { $0 }, "\(ending)")
        #expect(await eventually { store.isHealthy }, "\(ending)")
    }
}
