import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What guards calls while the file can't be used.
@Suite struct InMemoryFallbackTests {
    /// The system has no thread left when the store is opened, and has some later.
    @Test(.timeLimit(.minutes(10))) func aStoreWithoutAThreadUsesTheFallbackUntilItHasOne() async {
        await #expect(processExitsWith: .success) {
            let directory = try Files.makeDirectory()
            defer { Files.remove(directory) }
            var configuration = CircuitStore.Configuration()
            configuration.whenUnavailable = .degrade
            // It has the memory in which the other store's calls are counted, too.
            let before = try CircuitStore(path: directory + "/before.db", configuration: configuration)
            let first = try before.breaker(.init(name: "a", trip: .failures(2, within: .seconds(60))))
            try await first.run {}
            let mappings = Self.useUpMappings()
            let store = try CircuitStore(path: directory + "/circuits.db", configuration: configuration)
            #expect(!store.isHealthy)
            let breaker = try store.breaker(.init(name: "a", trip: .failures(2, within: .seconds(60))))
            #expect(try synchronously { try breaker.run { 1 } } == 1)
            for _ in 0..<2 { synchronously { breaker.recordFailure(Boom()) } }
            #expect(throws: CircuitOpenError.self) { try synchronously { try breaker.run { 1 } } }
            for mapping in mappings { unsafe munmap(UnsafeMutableRawPointer(bitPattern: mapping), 4_096) }
            #expect(
                await eventually {
                    synchronously { try? breaker.run {} }
                    return store.isHealthy
                })
            store.close()
            before.close()
        }
    }

    /// Maps pages until the system has no place for more; neighbours of the same kind would become one mapping.
    private static func useUpMappings() -> [UInt] {
        var mappings: [UInt] = []
        mappings.reserveCapacity(100_000)
        var isReadable = true
        while let page = unsafe mmap(
            nil, 4_096, isReadable ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0),
            unsafe page != MAP_FAILED
        {
            mappings.append(UInt(bitPattern: page))
            isReadable.toggle()
        }
        return mappings
    }

    /// One process is one reporter: it would wait in vain for others.
    @Test func tripsAloneWhateverTheMinimumOfReporters() async throws {
        let store = try StoreFixture.makeStore()
        let config = CircuitBreaker.Config(
            name: "a", trip: .failures(2, within: .seconds(60)), minimumReporters: 3)
        let breaker = try store.breaker(config)
        store.close()
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run { 1 } }
    }

    /// Code that asks before it calls must be guarded, too, while the file can be read but not written.
    @Test func aTripInMemoryIsSeenWhileTheFileCanBeRead() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(300))
        let breaker = try fixture.breaker(trip: .failures(2, within: .seconds(60)))
        let writer = try WriteLock(fixture.store)
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(!breaker.isCallPermitted)
        try writer.release()
    }

    /// The file came back for a moment, so that memory forgot, and could not be written to after all.
    @Test func whatTheFileDoesNotTakeAfterAllCountsAgain() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(300))
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        let writer = try WriteLock(fixture.store)
        for _ in 0..<2 { await breaker.recordFailure(Boom()) }
        breaker.circuit.resetFallback()
        core.commitReports()
        #expect(breaker.isCallPermitted)
        await breaker.recordFailure(Boom())
        #expect(!breaker.isCallPermitted)
        try writer.release()
    }

    @Test func aRefusalOfTheFallbackHasTheLastError() async throws {
        let store = try StoreFixture.makeStore()
        let breaker = try store.breaker(.init(name: "a", trip: .failures(1, within: .seconds(60))))
        store.close()
        await breaker.recordFailure(Boom())
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(refusal?.lastError == "Boom")
    }
}
