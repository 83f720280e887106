import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Who may read and write what a store creates, and what is done for those who may not.
@Suite(.timeLimit(.minutes(10))) struct FileModeTests {
    static let endings = ["", "-wal", "-shm", "-lock"]

    @Test(arguments: [UInt32(0), 0o022, 0o077])
    func modeWithoutRegardToTheMask(mask: UInt32) async {
        await #expect(processExitsWith: .success) { [mask] in
            umask(mode_t(mask))
            for mode in [nil, UInt16(0o660), 0o644] {
                try Files.withDirectory { directory in
                    var configuration = Stores.configuration()
                    if let mode { configuration.fileMode = mode }
                    let store = try CircuitStore(path: "\(directory)/a.db", configuration: configuration)
                    try store.breaker(Stores.config()).recordFailure()
                    store.close()
                    let listing = Listing(directory)
                    for ending in Self.endings {
                        #expect(listing["a.db\(ending)"]?.mode == UInt32(S_IFREG) | UInt32(mode ?? 0o600), "\(ending)")
                    }
                }
            }
        }
    }

    /// The files beside it take the mode of a file that was there before.
    @Test func modeOfAnExistingFile() throws {
        try Files.withDirectory { directory in
            Files.write([], to: "\(directory)/a.db")
            unsafe chmod("\(directory)/a.db", 0o640)
            try Stores.make("\(directory)/a.db")
            let listing = Listing(directory)
            for ending in Self.endings {
                #expect(listing["a.db\(ending)"]?.mode == UInt32(S_IFREG) | 0o640, "\(ending)")
            }
        }
    }

    /// What a process without rights finds; the modes hold for the owner as well as for others.
    @Test(arguments: [
        "new file in a directory that may not be written", "unreadable file", "file that may not be written",
        "unreadable log", "log that may not be written", "wal-index that may not be written", "unreadable lock file",
        "directory that may not be searched",
    ])
    func noPermission(what: String) async {
        await #expect(processExitsWith: .success) { [what] in
            try Files.withDirectory { directory in
                let path = "\(directory)/a.db"
                unsafe chmod(directory, 0o777)
                if !what.hasPrefix("new") {
                    _ = Forked.run { (try? Stores.make(path)) == nil ? 1 : 0 }
                    for ending in Self.endings { unsafe chmod(path + ending, 0o666) }
                }
                switch what {
                case "new file in a directory that may not be written": unsafe chmod(directory, 0o555)
                case "unreadable file": unsafe chmod(path, 0)
                case "file that may not be written": unsafe chmod(path, 0o444)
                case "unreadable log": unsafe chmod("\(path)-wal", 0)
                case "log that may not be written": unsafe chmod("\(path)-wal", 0o444)
                case "wal-index that may not be written": unsafe chmod("\(path)-shm", 0o444)
                case "unreadable lock file": unsafe chmod("\(path)-lock", 0)
                default: unsafe chmod(directory, 0)
                }
                let before = Listing(directory)
                let end = Forked.run {
                    // Root may do anything.
                    if geteuid() == 0 { Forked.become(65534, of: 65534) }
                    do throws(BreakerStoreError) {
                        _ = try CircuitStore(path: path, configuration: Stores.configuration())
                        return 1
                    } catch {
                        Forked.say("\(error)")
                        guard error.code == .permissionDenied, error.advice != nil,
                            error.message.contains("Permission denied"), error.path?.hasPrefix(directory) == true
                        else { return 2 }
                        return 0
                    }
                }
                #expect(end == .exited(0))
                #expect(Listing(directory) == before)
                unsafe chmod(directory, 0o700)
            }
        }
    }
}
