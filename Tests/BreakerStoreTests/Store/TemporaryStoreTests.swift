import BreakerTestSupport
import Synchronization
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Nothing is left of a temporary store, however its process lets go of it.
@Suite(.ownDirectory) struct TemporaryStoreTests {
    /// Lets the store's thread make the board just when the store's directory is removed.
    private final class LateBoard: Sendable {
        private let isBegun = Atomic<Bool>(false)
        private let isRenamed = Atomic<Bool>(false)

        func reached(_ hook: String) {
            switch hook {
            case "board.begin":
                self.isBegun.store(true, ordering: .sequentiallyConsistent)
                _ = comesTrue { self.isRenamed.load(ordering: .sequentiallyConsistent) }
            case "temporary.begin": _ = comesTrue { self.isBegun.load(ordering: .sequentiallyConsistent) }
            case "temporary.renamed": self.isRenamed.store(true, ordering: .sequentiallyConsistent)
            default: break
            }
        }
    }

    enum Ending: String, CaseIterable, Codable {
        case closed, released, kept

        /// A store in a function, and a call through it.
        func play() throws {
            let store = try CircuitStore.temporary(configuration: Stores.configuration())
            try store.breaker(Stores.config()).run {}
            switch self {
            case .closed: store.close()
            case .released: break
            case .kept: TemporaryStoreTests.kept.withLock { $0 = store }
            }
        }
    }

    private static let kept = Mutex<CircuitStore?>(nil)

    private static func makeDirectory() throws -> String {
        let directory = try Workplace.here.directory + "/tmp"
        unsafe mkdir(directory, 0o700)
        return directory
    }

    @Test func anEmptyVariableIsNone() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TMPDIR", "", 1)
            let store = try CircuitStore.temporary()
            let path = store.backend.file.path
            store.close()
            #expect(path.split(separator: "/").count > 2, "\(path) is in no directory for such files")
        }
    }

    @Test(arguments: Ending.allCases) func nothingIsLeft(ending: Ending) async throws {
        let directory = try Self.makeDirectory()
        await #expect(processExitsWith: .success) { [ending = ending as Ending, directory = directory as String] in
            unsafe setenv("TMPDIR", directory, 1)
            let board = LateBoard()
            Hook.install { board.reached($0) }
            try ending.play()
            exit(0)
        }
        #expect(Directory.names(in: directory) == [])
    }

    /// A child of a fork that ends in order leaves its parent's store alone.
    @Test func aChildLeavesItsParentsStore() async throws {
        let directory = try Self.makeDirectory()
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            unsafe setenv("TMPDIR", directory, 1)
            let store = try CircuitStore.temporary()
            let child = forkBesideSleepers(forSeconds: 100)
            if child == 0 { exit(0) }
            var status: Int32 = -1
            unsafe waitpid(child, &status, 0)
            #expect(status == 0)
            #expect(StoreFile.size(store.path) != nil)
            try store.breaker(Stores.config()).run {}
            store.close()
            #expect(Directory.names(in: directory) == [])
        }
        #expect(Directory.names(in: directory) == [])
    }
}
