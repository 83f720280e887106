import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Nobody, or not this user, can write to the store: the doctor says so, and what stands in the way.
@Suite(.timeLimit(.minutes(10)), .ownDirectory) struct UnwritableTests {
    /// What the doctor says of one check: its status, its finding and its advice.
    private static func finding(_ check: String, at path: String) -> (code: Int32, text: String) {
        let console = RecordingConsole()
        let code = run(
            arguments: ["doctor", "--json"], environment: ["BREAKER_STORE": path], console: console,
            clock: SystemHostClock())
        let document = try? JSONSerialization.jsonObject(with: Data(console.output.utf8)) as? [String: Any]
        let findings = document?["findings"] as? [[String: Any]] ?? []
        let texts = findings.filter { $0["check"] as? String == check }.map {
            "\($0["status"] ?? ""): \($0["finding"] ?? "") -> \($0["advice"] ?? "")"
        }
        return (code.rawValue, texts.joined(separator: "\n"))
    }

    #if os(Linux)
    @Test(.enabled(if: geteuid() == 0, "only root may mount a file system"))
    func findsAFileSystemThatIsReadOnly() async throws {
        let here = try Workplace.here
        let directory = "\(here.directory)/disk"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let disk = try SmallDisk(at: directory, megabytes: 6)
        defer { disk.clear() }
        let path = "\(directory)/shop.db"
        let worker = try here.worker()
        try await worker.ask("open \(path) system-clock")
        // A file system with files that are open for writing can't be remounted by hand.
        await worker.quit()
        try #require(unsafe mount("tmpfs", directory, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
        let (code, text) = Self.finding("file system", at: path)
        #expect(code == ExitCode.failed.rawValue)
        #expect(
            text.hasPrefix("wrong: \(directory) (tmpfs) is mounted read-only: nobody can change the store"), "\(text)")
        #expect(text.hasSuffix("then remount it read-write"), "\(text)")
        // Nobody is to look for a mode that forbids it.
        #expect(Self.finding("permissions", at: path).text.hasPrefix("ok: the files are 0600 of user 0"))
    }

    /// The directory may be written: there is no room in it.
    @Test(.enabled(if: geteuid() == 0, "only root may mount a small file system"))
    func aFileThatFindsNoRoomIsNoMatterOfPermissions() throws {
        let shop = try Shop()
        let directory = shop.directory.appendingPathComponent("disk").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let disk = try SmallDisk(at: directory, megabytes: 1)
        defer { disk.clear() }
        try disk.fill()
        for line in [["report"], ["metrics", "--output"]] {
            let (code, _, talk) = shop.inspect(arguments: line + ["\(disk.directory)/file"])
            #expect(code == .failed)
            #expect(
                talk == """
                    breaker-inspect: cannot write '\(disk.directory)/file': No space left on device
                    hint: make room on its file system; an earlier file is unchanged

                    """)
        }
    }

    /// Such as in a container that only looks at the store of another one.
    @Test(.enabled(if: geteuid() == 0, "only root may mount a file system"))
    func aMountThatIsReadOnlyIsNoFault() async throws {
        let here = try Workplace.here
        _ = try await here.openWorkers(1, "system-clock")
        let directory = "\(here.directory)/seen"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try #require(unsafe mount(here.directory, directory, nil, UInt(MS_BIND), nil) == 0)
        defer { unsafe umount2(directory, Int32(MNT_DETACH)) }
        let options = UInt(MS_REMOUNT) | UInt(MS_BIND) | UInt(MS_RDONLY)
        try #require(unsafe mount(nil, directory, nil, options, nil) == 0)
        let name = URL(fileURLWithPath: here.store).lastPathComponent
        let (code, text) = Self.finding("file system", at: "\(directory)/\(name)")
        #expect(code == ExitCode.done.rawValue)
        #expect(text.contains("is mounted read-only here: nobody can change the store through this mount"), "\(text)")
    }
    #endif

    /// The first directory on the way, whose owner and mode can be seen from outside.
    @Test(.enabled(if: geteuid() == 0, "root becomes another user"))
    func namesADirectoryThatKeepsThisUserOut() async throws {
        let shop = try Shop(clock: SystemHostClock())
        shop.store.close()
        let directory = shop.directory.path
        try FileManager.default.createDirectory(atPath: directory + "/inner", withIntermediateDirectories: false)
        unsafe chmod(directory, 0o700)
        await #expect(processExitsWith: .success) { [directory = directory as String] in
            #expect(setgid(65_534) == 0 && setuid(65_534) == 0)
            for path in ["\(directory)/shop.db", "\(directory)/inner/shop.db", "\(directory)/nothing/shop.db"] {
                let (code, text) = UnwritableTests.finding("permissions", at: path)
                #expect(code == ExitCode.failed.rawValue)
                #expect(
                    text.hasPrefix(
                        "wrong: the directory '\(directory)' is 0700 of user 0, group 0; you are ann, user 65534, "
                            + "and can't enter it -> run this as a user who can"),
                    "\(text)")
            }
        }
    }

    /// The directory decides, whatever the modes of the files are.
    @Test(arguments: [true, false]) func namesADirectoryThatForbidsToWrite(isOwner: Bool) async throws {
        // Only root can make files of another user.
        guard isOwner || geteuid() == 0 else { return }
        let shop = try Shop(clock: SystemHostClock())
        shop.store.close()
        for ending in ["", "-wal", "-shm", "-lock"] {
            unsafe chmod(shop.path + ending, isOwner ? 0o600 : 0o666)
            if isOwner, geteuid() == 0 { _ = unsafe chown(shop.path + ending, 65_534, gid_t.max) }
        }
        let directory = shop.directory.path
        unsafe chmod(directory, 0o555)
        defer { unsafe chmod(directory, 0o755) }
        let owner = geteuid()
        await #expect(processExitsWith: .success) {
            [
                path = shop.path as String, directory = directory as String, isOwner = isOwner as Bool,
                owner = owner as uid_t
            ] in
            // Root may do anything: the child gives its rights away.
            if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
            let (code, text) = UnwritableTests.finding("permissions", at: path)
            #expect(code == (isOwner ? ExitCode.failed : .done).rawValue)
            let status = isOwner ? "wrong" : "note"
            #expect(
                text.hasPrefix("\(status): the directory '\(directory)' is 0555 of user \(owner), group "), "\(text)")
            let words = isOwner ? "this user owns the store, but neither" : "this user may look, but not reset"
            #expect(text.contains(words), "\(text)")
        }
    }
}
