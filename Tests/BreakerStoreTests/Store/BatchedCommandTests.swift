import BreakerTestSupport
import Testing

@testable import BreakerStore

/// An operator's command on very many circuits, between whose transactions others write.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct BatchedCommandTests {
    private static func makeStore(of count: Int) throws -> String {
        let path = try Workplace.here.store
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        _ = try store.breakers((0..<count).map { Stores.config("m\($0)") })
        store.close()
        return path
    }

    private static func heldCircuits(in path: String) -> Int? {
        Foreign.value(path, "SELECT count(*) FROM circuit WHERE hold = 'open'").flatMap(Int.init)
    }

    @Test func noTransactionChangesMoreThanAThousandAndOthersCommitInBetween() async throws {
        let count = 2_500
        let path = try Self.makeStore(of: count)
        let worker = try Workplace.here.worker()
        try await worker.ask("open \(path) system-clock")
        try await worker.ask("breaker other failures=1000000")
        let store = try CircuitStore(path: path, configuration: Stores.configuration(.existing))
        defer { store.close() }
        var command = try store.command(.hold(.open, for: nil), on: [.pattern("m*")], by: "ann")
        #expect(command.count == count)
        var held = 0
        while let changes = try synchronously({ try command.next() }) {
            #expect(!changes.isEmpty)
            #expect(changes.count <= BatchedCommand.largestBatch)
            held += changes.count
            #expect(command.reached == held)
            #expect(Self.heldCircuits(in: path) == held)
            try await worker.ask("fail other")
        }
        #expect(held == count)
        #expect(store.isHealthy)
        #expect(try await worker.ask("health").description == "health=healthy")
    }

    @Test func upToAThousandCircuitsAreChangedAllOrNone() throws {
        let path = try Self.makeStore(of: BatchedCommand.largestBatch)
        let store = try CircuitStore(path: path, configuration: Stores.configuration(.existing))
        defer { store.close() }
        var command = try store.command(.hold(.open, for: nil), on: [.pattern("m*")])
        #expect(try command.next()?.count == BatchedCommand.largestBatch)
        #expect(try command.next() == nil)
        // A live worker has registered the circuit that would be deleted last.
        let worker = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { worker.close() }
        _ = try worker.breaker(Stores.config("m\(BatchedCommand.largestBatch - 1)"))
        let error = #expect(throws: BreakerStoreError.self) {
            try store.forget([.pattern("m*")], evenIfInUse: false)
        }
        #expect(error?.code == .inUse)
        #expect(Foreign.value(path, "SELECT count(*) FROM circuit") == "\(BatchedCommand.largestBatch)")
    }

    /// Circuits that came since the command began are left alone; those that are gone end it only if they were named.
    @Test func isAboutTheCircuitsThatWereThere() throws {
        let path = try Self.makeStore(of: 3)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        var byPattern = try store.command(.reset, on: [.pattern("m*")])
        var byName = try store.command(.reset, on: [.named("m1"), .named("m2")])
        try store.forget("m1")
        _ = try store.breaker(Stores.config("m3"))
        #expect(try byPattern.next()?.map(\.name) == ["m0", "m2"])
        let error = #expect(throws: BreakerStoreError.self) { try byName.next() }
        #expect(error?.code == .noSuchCircuit)
        #expect(byName.reached == 0)
    }

    /// SQLite keeps all pages that a transaction has changed in memory.
    @Test func takesLittleMemoryForVeryManyCircuits() async throws {
        let path = try Self.makeStore(of: 10_000)
        await #expect(processExitsWith: .success) { [path = path as String] in
            SQLiteMemory.limit(to: 5 << 20)
            let store = try CircuitStore(path: path, configuration: Stores.configuration(.existing))
            let changes = try synchronously { try store.perform(.hold(.open, for: nil), on: [.pattern("m*")]) }
            #expect(changes.count == 10_000)
            store.close()
        }
        #expect(Self.heldCircuits(in: path) == 10_000)
    }
}
