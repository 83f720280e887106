import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A symbolic link in place of a file beside the database leads nobody to another file.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SideFileLinkTests {
    static let endings = ["-wal", "-shm", "-lock", "-journal"]
    static let secret = Array("somebody else's".utf8)

    /// What it would lead to is neither changed nor made.
    @Test(arguments: Self.endings, [true, false])
    func isNotFollowedWhenOpening(ending: String, hasTarget: Bool) throws {
        let directory = try Workplace.here.directory
        for path in ["\(directory)/a.db", "\(directory)/new.db"] {
            if path.hasSuffix("a.db") { try Stores.make(path) }
            Files.remove(path + ending)
            if hasTarget { Files.write(Self.secret, to: "\(directory)/other") }
            unsafe symlink("other", path + ending)
            let before = Listing(directory)
            for access in [Access.readWrite, .existing, .readOnly] {
                let error = #expect(throws: BreakerStoreError.self) {
                    try CircuitStore(path: path, configuration: Stores.configuration(access))
                }
                #expect(error?.code == .unsafePath && error?.path == path + ending, "\(error as Any)")
                #expect(error?.message.contains("symbolic link") == true && error?.advice != nil, "\(error as Any)")
            }
            #expect(Listing(directory) == before)
        }
    }

    /// Put there while the store is open; it comes back once the link is gone.
    @Test(arguments: Self.endings, [true, false])
    func isNotFollowedWhileOpen(ending: String, hasTarget: Bool) async throws {
        let directory = try Workplace.here.directory
        let path = "\(directory)/a.db"
        var configuration = Stores.configuration()
        configuration.firstRetry = .milliseconds(1)
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(Stores.config(maxFailures: 1_000))
        await breaker.recordFailure()
        let target = "\(directory)/other"
        if hasTarget { Files.write(Self.secret, to: target) }
        // In one step, so that nothing is made in between.
        unsafe symlink("other", "\(directory)/link")
        unsafe rename("\(directory)/link", path + ending)
        if ending != "-journal" {
            await breaker.recordFailure()
            #expect(await eventually { !store.isHealthy })
        }
        for _ in 0..<20 { await breaker.recordFailure() }
        #expect(Files.read(target) == (hasTarget ? Self.secret : nil))
        unsafe unlink(path + ending)
        #expect(await eventually { store.isHealthy })
        await breaker.recordFailure()
        #expect(Files.read(target) == (hasTarget ? Self.secret : nil))
        // With the log, the circuit has gone too.
        #expect(breaker.failureCount >= (ending == "-wal" ? 1 : 22))
    }
}
