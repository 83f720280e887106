import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Users of one group share a store whose mode lets them.
///
/// Their numbers are made up; only root can be any of them.
@Suite(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0, "only root can be several users"))
struct SharedByUsersTests {
    struct User {
        let id: uid_t
        let group: gid_t
    }

    static let group: gid_t = 54_300

    private static func become(_ user: User) { Forked.become(user.id, of: user.group, groups: [Self.group]) }

    private static var configuration: CircuitStore.Configuration {
        var configuration = Stores.configuration()
        configuration.fileMode = 0o660
        return configuration
    }

    /// Each sees the other's failure, whoever has made which file.
    @Test(arguments: [
        "made by the first", "made by root", "made by the second, who has left", "side files of another group",
    ])
    func bothCount(how: String) async {
        await #expect(processExitsWith: .success) { [how] in
            try Files.withDirectory { directory in try Self.share(directory, how) }
        }
    }

    private static func share(_ directory: String, _ how: String) throws {
        let path = "\(directory)/a.db"
        let hasOwnGroups = how == "side files of another group"
        let first = User(id: 54_301, group: hasOwnGroups ? 54_301 : Self.group)
        let second = User(id: 54_302, group: hasOwnGroups ? 54_302 : Self.group)
        unsafe chown(directory, 0, Self.group)
        unsafe chmod(directory, hasOwnGroups ? 0o770 : 0o2770)
        // As on a host where they are careful.
        umask(0o077)
        switch how {
        case "made by root": try Self.leave(path, as: nil)
        case "made by the second, who has left": try Self.leave(path, as: second)
        case "side files of another group":
            // Nothing but the database is of the group.
            Files.write([], to: path)
            unsafe chown(path, 0, Self.group)
            unsafe chmod(path, 0o660)
        default: break
        }
        let one = Forked.start {
            Self.become(first)
            return Self.failFirst(path)
        }
        let other = Forked.start {
            Self.become(second)
            return Self.failSecond(path)
        }
        let ends = [Forked.wait(for: one), Forked.wait(for: other)]
        #expect(ends == [.exited(0), .exited(0)])
        let listing = Listing(directory)
        for ending in FileModeTests.endings {
            #expect(listing["a.db\(ending)"]?.mode == UInt32(S_IFREG) | 0o660, "\(ending)")
            var info = stat()
            unsafe stat(path + ending, &info)
            #expect(info.st_gid == Self.group, "\(ending)")
        }
    }

    /// Others than those of the group may not even look.
    @Test func strangerIsRefused() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                unsafe chmod(directory, 0o777)
                try Self.leave("\(directory)/a.db", as: nil)
                let before = Listing(directory)
                let end = Forked.run {
                    Forked.become(54_303, of: 54_303)
                    do throws(BreakerStoreError) {
                        _ = try CircuitStore(path: "\(directory)/a.db", configuration: Self.configuration)
                        return 1
                    } catch {
                        return error.code == .permissionDenied ? 0 : 2
                    }
                }
                #expect(end == .exited(0))
                #expect(Listing(directory) == before)
            }
        }
    }

    // MARK: - What the users do

    /// Makes the store, and leaves.
    private static func leave(_ path: String, as user: User?) throws {
        let end = Forked.run {
            if let user { Self.become(user) }
            guard let store = try? CircuitStore(path: path, configuration: Self.configuration) else { return 1 }
            store.close()
            return 0
        }
        #expect(end == .exited(0))
    }

    private static func failFirst(_ path: String) -> Int32 {
        do {
            let store = try CircuitStore(path: path, configuration: Self.configuration)
            let breaker = try store.breaker(Stores.config())
            breaker.recordFailure()
            // The second's failure trips it.
            guard comesTrue({ !breaker.isCallPermitted }) else { return 3 }
            return store.isHealthy ? 0 : 2
        } catch {
            Forked.say("\(error)")
            return 1
        }
    }

    private static func failSecond(_ path: String) -> Int32 {
        do {
            let store = try CircuitStore(path: path, configuration: Self.configuration)
            let breaker = try store.breaker(Stores.config())
            guard comesTrue({ breaker.failureCount == 1 }) else { return 3 }
            breaker.recordFailure()
            return store.isHealthy && !breaker.isCallPermitted ? 0 : 2
        } catch {
            Forked.say("\(error)")
            return 1
        }
    }
}
