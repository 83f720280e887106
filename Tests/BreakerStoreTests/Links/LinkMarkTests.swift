import BreakerTestSupport
import Testing

@testable import BreakerStore

/// The sign of change says of each commit, whoever makes it, and of nothing else.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LinkMarkTests {
    /// A store of this process on the place's clock, which stands still: nothing is committed by the way.
    private func open(_ access: Access = .readWrite) throws -> CircuitStore {
        var configuration = Stores.configuration(access)
        configuration.clock = try Workplace.here.clock
        configuration.firstRetry = .seconds(600)
        return try CircuitStore(path: Workplace.here.store, configuration: configuration)
    }

    @Test func changesWithEachCommitOfAnybody() async throws {
        let place = try Workplace.here
        let worker = try await place.openWorker()
        try await worker.ask("breaker users failures=5")
        let store = try self.open()
        defer { store.close() }
        var mark = try #require(store.changeMark())
        _ = try store.linkedCircuits(matching: "*")
        _ = try await store.history()
        try await worker.ask("look users")
        try await worker.ask("call users")
        #expect(store.changeMark() == mark)
        for command in ["fail users", "hold users open", "release users", "reset users"] {
            try await worker.ask(command)
            let next = try #require(store.changeMark())
            #expect(next != mark, "\(command)")
            #expect(store.changeMark() == next)
            mark = next
        }
        await worker.die()
        #expect(store.changeMark() == mark)
        try await store.reset("users")
        #expect(store.changeMark() != mark)
    }

    @Test func thereIsNoneWhereNothingProvesThatTheFileIsUnchanged() throws {
        let store = try self.open()
        let reader = try self.open(.readOnly)
        #expect(reader.changeMark() == nil)
        let other = try self.open()
        #expect(store.changeMark() != nil)
        #expect(store.changeMark() == other.changeMark())
        store.close()
        #expect(store.changeMark() == nil)
        #expect(other.changeMark() != nil)
        // The store's thread brings the file back as soon as nobody has it locked.
        let writer = try WriteLock(other)
        try #require(other.backend.core).lose(.busy(other.path))
        #expect(other.changeMark() == nil)
        try writer.release()
        other.close()
    }

    /// It costs nothing that could wait: a look while another process has the write lock, or this one has the reader's.
    @Test func waitsForNobody() throws {
        let path = try Workplace.here.store
        let store = try self.open()
        _ = try store.breaker(Stores.config())
        defer { store.close() }
        let foreign = Foreign(path)
        foreign.run("BEGIN IMMEDIATE; UPDATE circuit SET registered = registered + 1")
        let core = try #require(store.backend.core)
        // A lock of this thread's own that was taken again would end the process, or wait for ever.
        let (before, after) = core.answers.source.withLock { _ in (store.changeMark(), store.changeMark()) }
        #expect(before != nil)
        #expect(before == after)
        foreign.run("COMMIT")
        #expect(store.changeMark() != before)
    }
}
