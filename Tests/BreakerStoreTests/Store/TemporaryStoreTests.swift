import BreakerTestSupport
import Synchronization
import Testing

@testable import BreakerStore

struct TemporaryStoreTests {
    /// Lets the store's thread make the board just after the files of the store's directory have been removed.
    private final class LateBoard: Sendable {
        private let isBegun = Atomic<Bool>(false)
        private let isEmptied = Atomic<Bool>(false)
        private let file: StoreFile

        init(_ file: StoreFile) { self.file = file }

        func reached(_ hook: String) {
            switch hook {
            case "board.begin":
                self.isBegun.store(true, ordering: .sequentiallyConsistent)
                self.wait { self.isEmptied.load(ordering: .sequentiallyConsistent) }
            case "temporary.begin": self.wait { self.isBegun.load(ordering: .sequentiallyConsistent) }
            case "temporary.emptied":
                if self.isEmptied.exchange(true, ordering: .sequentiallyConsistent) { return }
                self.wait { StoreFile.size(self.file.board) != nil }
            default: break
            }
        }

        private func wait(until condition: () -> Bool) {
            let end = Deadline(after: .seconds(20))
            while !condition(), !end.isOver { end.pause(atMost: .milliseconds(1)) }
        }
    }

    @Test(arguments: [false, true]) func nothingIsLeft(isClosed: Bool) async {
        await #expect(processExitsWith: .success) { [isClosed] in
            let file = try Self.use(isClosed: isClosed)
            #expect(await eventually { StoreFile.size(file.directory) == nil })
        }
    }

    /// Counts a call, and closes the store or lets go of it.
    private static func use(isClosed: Bool) throws -> StoreFile {
        let store = try CircuitStore.temporary()
        let board = LateBoard(store.backend.file)
        Hook.install { board.reached($0) }
        try store.breaker(Stores.config()).run {}
        if isClosed { store.close() }
        return store.backend.file
    }
}
