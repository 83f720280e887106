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

/// In a directory that everybody may write to, another user puts files where a service will look for its store.
///
/// Their numbers are made up; only root can be any of them.
@Suite(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0, "only root can be several users"))
struct FilesOfOthersTests {
    private static let mallory: uid_t = 54_311
    private static let service: uid_t = 54_312
    private static let host: uid_t = 54_313

    /// Runs `body` as a user, in a child; returns its exit code.
    private static func run(as user: uid_t, _ body: @escaping () throws -> Int32) -> Int32 {
        let end = Forked.run {
            if user != 0 { Forked.become(user, of: user) }
            do {
                return try body()
            } catch {
                Forked.say("\(error)")
                return 99
            }
        }
        guard case .exited(let code) = end else { return -1 }
        return code
    }

    /// 0 if the store can be opened, 1 if it is refused as it should be.
    private static func open(_ path: String, _ access: Access = .readWrite, naming name: String) -> Int32 {
        do throws(BreakerStoreError) {
            let store = try CircuitStore(path: path, configuration: Stores.configuration(access))
            _ = try store.circuits()
            store.close()
            return 0
        } catch {
            guard error.code == .unsafePath, error.path == name, error.message.contains("user \(Self.mallory)"),
                error.advice != nil
            else {
                Forked.say("\(error)")
                return 2
            }
            return 1
        }
    }

    /// An index without its log must go, and only its owner may remove it: the opening says so, and ends.
    @Test func anIndexThatMayNotBeRemovedIsSaid() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                unsafe chown(directory, Self.host, gid_t.max)
                unsafe chmod(directory, 0o1777)
                let path = "\(directory)/a.db"
                let made = Self.run(as: Self.host) {
                    try Stores.make(path)
                    for ending in ["", "-wal", "-shm", "-lock"] { unsafe chmod(path + ending, 0o666) }
                    return unsafe unlink("\(path)-wal")
                }
                #expect(made == 0)
                let refused = Self.run(as: Self.service) {
                    do throws(BreakerStoreError) {
                        try CircuitStore(path: path, configuration: Stores.configuration()).close()
                        return 1
                    } catch {
                        return error.code == .permissionDenied && error.path == "\(path)-shm" ? 0 : 2
                    }
                }
                #expect(refused == 0)
            }
        }
    }

    /// Root and an ordinary user find what the other user has made: empty, a whole store, or a link.
    @Test(
        arguments: ["", "-wal", "-shm", "-journal", "-lock"].map { ($0, UInt32(0o1777)) } + [("", 0o777)])
    func fileIsRefused(ending: String, mode: UInt32) async {
        await #expect(processExitsWith: .success) { [ending, mode] in
            try Files.withDirectory { directory in
                unsafe chmod(directory, mode_t(mode))
                let path = "\(directory)/a.db"
                let made = Self.run(as: Self.mallory) {
                    Files.write([], to: path + ending, mode: 0o666)
                    unsafe chmod(path + ending, 0o666)
                    return 0
                }
                #expect(made == 0)
                let before = Listing(directory)
                for user in [0, Self.service] {
                    for access in [Access.readWrite, .existing, .readOnly] {
                        #expect(Self.run(as: user) { Self.open(path, access, naming: path + ending) } == 1)
                        #expect(Listing(directory) == before)
                    }
                }
            }
        }
    }

    @Test(arguments: [uid_t(0), Self.service, Self.host]) func wholeStoreIsRefused(user: uid_t) async {
        await #expect(processExitsWith: .success) { [user] in
            try Files.withDirectory { directory in
                unsafe chmod(directory, 0o1777)
                unsafe chown(directory, Self.host, 0)
                let path = "\(directory)/a.db"
                let made = Self.run(as: Self.mallory) {
                    var configuration = Stores.configuration()
                    configuration.fileMode = 0o666
                    try CircuitStore(path: path, configuration: configuration).close()
                    return 0
                }
                #expect(made == 0)
                #expect(Self.run(as: user) { Self.open(path, naming: path) } == 1)
                // Its own user may go on with it.
                #expect(Self.run(as: Self.mallory) { Self.open(path, naming: path) } == 0)
            }
        }
    }

    /// The owner of the directory, and root, may put a store there for all.
    @Test(arguments: [uid_t(0), Self.host]) func storeOfTheHostIsUsed(owner: uid_t) async {
        await #expect(processExitsWith: .success) { [owner] in
            try Files.withDirectory { directory in
                unsafe chmod(directory, 0o1777)
                unsafe chown(directory, Self.host, 0)
                let path = "\(directory)/a.db"
                let made = Self.run(as: owner) {
                    var configuration = Stores.configuration()
                    configuration.fileMode = 0o666
                    try CircuitStore(path: path, configuration: configuration).close()
                    return 0
                }
                #expect(made == 0)
                for user in [0, Self.host, Self.service] {
                    #expect(Self.run(as: user) { Self.open(path, naming: path) } == 0, "\(user)")
                }
            }
        }
    }

    /// Nothing is made at the target of another user's link, and what is there is not used.
    @Test(arguments: [true, false], [UInt32(0o1777), 0o777])
    func linkIsNotFollowed(isDangling: Bool, mode: UInt32) async {
        await #expect(processExitsWith: .success) { [isDangling, mode] in
            try Files.withDirectory { directory in
                let open = "\(directory)/open"
                let own = "\(directory)/own"
                unsafe mkdir(open, 0o700)
                unsafe chmod(directory, 0o755)
                unsafe chmod(open, mode_t(mode))
                unsafe mkdir(own, 0o700)
                unsafe chown(own, Self.service, Self.service)
                if !isDangling {
                    #expect(
                        Self.run(as: Self.service) {
                            try Stores.make("\(own)/a.db")
                            return 0
                        } == 0)
                }
                #expect(Self.run(as: Self.mallory) { unsafe symlink("../own/a.db", "\(open)/a") } == 0)
                let before = Listing(own)
                for user in [0, Self.service] {
                    for access in [Access.readWrite, .existing, .readOnly] {
                        #expect(Self.run(as: user) { Self.open("\(open)/a", access, naming: "\(open)/a") } == 1)
                    }
                }
                #expect(Listing(own) == before)
            }
        }
    }

    /// As the kernel has it: the follower's own links, and those of the directory's owner.
    @Test(arguments: [Self.service, Self.host]) func ownLinkIsFollowed(owner: uid_t) async {
        await #expect(processExitsWith: .success) { [owner] in
            try Files.withDirectory { directory in
                let open = "\(directory)/open"
                unsafe mkdir(open, 0o700)
                unsafe chmod(directory, 0o755)
                unsafe chmod(open, 0o1777)
                unsafe chown(open, Self.host, 0)
                #expect(Self.run(as: owner) { unsafe symlink("a.db", "\(open)/a") } == 0)
                #expect(Self.run(as: Self.service) { Self.open("\(open)/a", naming: "") } == 0)
                #expect(StoreFile.size("\(open)/a.db") != nil)
            }
        }
    }

    /// Members of a directory's group share it, with the setgid bit and without, sticky or not; root looks at their
    /// store.
    @Test(arguments: [UInt32(0o2770), 0o3770, 0o1770, 0o2775]) func groupIsTrusted(mode: UInt32) async {
        await #expect(processExitsWith: .success) { [mode] in
            try Files.withDirectory { directory in
                unsafe chown(directory, 0, Self.mallory)
                unsafe chmod(directory, mode_t(mode))
                let path = "\(directory)/a.db"
                let made = Self.run(as: Self.mallory) {
                    var configuration = Stores.configuration()
                    configuration.fileMode = 0o664
                    try CircuitStore(path: path, configuration: configuration).close()
                    return 0
                }
                #expect(made == 0)
                #expect(Self.run(as: 0) { Self.open(path, .readOnly, naming: "") } == 0)
                #expect(Self.run(as: 0) { Self.open(path, .existing, naming: "") } == 0)
            }
        }
    }
}
