import BreakerTestSupport
import CSQLite
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A call that has just begun to look at the header goes on looking when the store is closed or reopened.
///
/// Nobody keeps the wal-index from being truncated then: the first to open the store again does that, and to read
/// memory that lies beyond a file's end kills the process.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RetiredMappingTests {
    /// The header that a late reader would see.
    private static func words(of mapping: HeaderMapping) -> [UInt64] {
        (0..<12).map { unsafe mapping.page[$0] }
    }

    @Test func theHeaderOfAClosedStoreCanBeRead() async throws {
        let path = try Workplace.here.store
        await #expect(processExitsWith: .success) { [path = path as String] in
            // Patient: `close` returns at `busyTimeout` though the store's thread may still use the file.
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            _ = try store.breaker(.init(name: "a"))
            let mapping = try #require(store.backend.core?.answers.source.withLock { $0.headers.last })
            store.close()
            #expect(unsafe truncate(path + "-shm", 0) == 0)
            #expect(Self.words(of: mapping).allSatisfy { $0 == 0 })
        }
    }

    /// With its last connection a process lets go of the file: from then on others may truncate the index.
    @Test(arguments: [false, true]) func theHeaderIsRetiredBeforeTheLastConnectionIsClosed(reopens: Bool) async throws {
        let path = try Workplace.here.store
        await #expect(processExitsWith: .success) { [path = path as String, reopens = reopens as Bool] in
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            _ = try store.breaker(.init(name: "a"))
            let core = try #require(store.backend.core)
            let mapping = try #require(core.answers.source.withLock { $0.headers.last })
            let seen = Locked<[Bool]>([])
            Hook.install { name in
                guard name == "session.closed" else { return }
                seen.withLock { $0.append(Self.words(of: mapping).allSatisfy { $0 == 0 }) }
            }
            if reopens {
                #expect(unsafe rename(path, path + "-moved") == 0)
                #expect(await eventually { store.isHealthy && core.answers.source.withLock { $0.generation } > 1 })
            } else {
                store.close()
            }
            #expect(seen.withLock { $0.first } == true)
            Hook.install(nil)
            store.close()
        }
    }

    @Test func theHeaderFromBeforeAReopeningCanBeRead() async throws {
        // All files go at once, with their directory: one by one, each that goes may cause a reopening of its own.
        let directory = try Workplace.here.store + "-directory"
        #expect(unsafe mkdir(directory, 0o700) == 0)
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            var configuration = CircuitStore.Configuration()
            configuration.busyTimeout = .hangLimit
            let store = try CircuitStore(path: directory + "/breakers.db", configuration: configuration)
            let breaker = try store.breaker(.init(name: "a"))
            let core = try #require(store.backend.core)
            let mapping = try #require(core.answers.source.withLock { $0.headers.last })
            #expect(Self.words(of: mapping).contains { $0 != 0 })
            #expect(unsafe rename(directory, directory + "-moved") == 0 && mkdir(directory, 0o700) == 0)
            #expect(await eventually { store.isHealthy && core.answers.source.withLock { $0.generation } == 2 })
            #expect(Self.words(of: mapping).allSatisfy { $0 == 0 })
            // The new one counts, once the store's thread has nothing more to commit.
            #expect(
                await eventually {
                    (try? breaker.run { () throws -> Int in 1 }) == 1
                        && breaker.circuit.cache.read(store.gate).kind == .proceed
                }
            )
            store.close()
        }
    }
}
