import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What is wrong with a file beside the database is said of that file.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UnsafeFileTests {
    @Test(arguments: ["-lock", "-wal", "-shm", "-journal"], ["ln -s other", "mkfifo", "mkdir"])
    func namesTheFileAndSpares(ending: String, command: String) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        let side = shop.path + ending
        try #require(try Child.shell("rm -f '\(side)' && \(command) '\(side)'", store: shop.path).code == 0)
        let what = command == "mkdir" ? "a directory" : command == "mkfifo" ? "not a regular file" : "a symbolic link"
        // One verb of each way to open the store.
        for verb in ["list", "doctor", "reset a"] {
            let result = try Child.shell("timeout 120 \"$0\" \(verb)", store: shop.path)
            #expect(result.code == 1)
            #expect(
                result.talk == """
                    breaker-inspect: cannot use '\(side)': it is \(what)
                    hint: remove it and leave the database as it is

                    """, "\(verb)")
        }
    }

    /// No advice to remove a device.
    @Test func aDeviceIsNoStore() throws {
        let result = try Child.shell("\"$0\" list", store: "/dev/null")
        #expect(result.code == 1)
        #expect(
            result.talk
                == "breaker-inspect: cannot use '/dev/null': it is not a regular file\nhint: name another path\n")
    }

    /// A temporary directory is not needed to read a log without an index, and one that is missing is no reason to call
    /// the store empty.
    @Test(arguments: ["list", "doctor"])
    func needsNoTemporaryDirectory(verb: String) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        try FileManager.default.removeItem(atPath: shop.path + "-shm")
        let result = try Child.shell("TMPDIR=/nowhere \"$0\" \(verb)", store: shop.path)
        #expect(result.code == 0, "\(result.talk)")
    }

    /// A reader that is killed, at whatever moment, leaves nothing behind.
    @Test func leavesNothingWhenKilled() throws {
        let shop = try Shop(clock: SystemHostClock())
        for number in 0..<50 { try shop.circuit("circuit \(number)") }
        shop.store.close()
        try FileManager.default.removeItem(atPath: shop.path + "-shm")
        let place = shop.directory.appendingPathComponent("place").path
        // Each is killed a little later; the last ones reach their end. The files `tsan.rodata.*` are not the tool's:
        // the thread sanitizer makes one while a program starts, and leaves it when the program is killed.
        let line = """
            mkdir '\(place)' && for n in $(seq 0 40); do
                TMPDIR='\(place)' timeout -s KILL 0.0$(printf %02d $n) "$0" list >/dev/null 2>&1
            done; ls -A -I 'tsan.rodata.*' '\(place)'
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output.isEmpty && result.code == 0, "\(result.output)")
    }
}
