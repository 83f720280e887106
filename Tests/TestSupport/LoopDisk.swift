#if os(Linux)
import Foundation
import Glibc

/// A file system in an image on a loop device, for a test that freezes it or fills it; only root may mount one.
package struct LoopDisk {
    package enum Kind: String, Sendable, CaseIterable {
        case ext4, xfs, btrfs

        /// The smallest that the file system is made in.
        fileprivate var megabytes: Int {
            switch self {
            case .ext4: 24
            case .xfs: 300
            case .btrfs: 128
            }
        }

        fileprivate var program: String { "/sbin/mkfs.\(self.rawValue)" }

        fileprivate var options: [String] {
            switch self {
            // Without blocks that are kept for root, which the tests run as.
            case .ext4: ["-q", "-F", "-m", "0"]
            case .xfs, .btrfs: ["-q"]
            }
        }

        /// Whether this machine can make and mount one.
        package var isAvailable: Bool {
            unsafe geteuid() == 0 && access("/dev/loop-control", R_OK | W_OK) == 0 && access(self.program, X_OK) == 0
        }
    }

    package let directory: String

    /// Makes an image in a directory, and mounts it there.
    package init(_ kind: Kind, in directory: String) async throws {
        let image = directory + "/\(kind.rawValue).img"
        self.directory = directory + "/\(kind.rawValue)"
        try await Self.run(["truncate", "-s", "\(kind.megabytes)M", image])
        try await Self.run([kind.program] + kind.options + [image])
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        // The loop device goes with the mount.
        try await Self.run(["mount", "-o", "loop", image, self.directory])
    }

    package func clear() { unsafe umount2(self.directory, Int32(MNT_DETACH)) }

    /// Freezes the file system while `body` runs: whoever writes there waits.
    ///
    /// A process of its own lets it go on when this one is gone, and after four minutes: then `body` has waited for it
    /// in vain, and an error is thrown.
    package func freeze(during body: () async throws -> Void) async throws {
        // `timeout` says 124 when the time is over.
        let script = """
            fsfreeze -f "$0" && echo frozen && timeout 240 cat >/dev/null; code=$?; fsfreeze -u "$0"; exit $code
            """
        let freezer = try WorkerProcess(program: "/bin/sh", arguments: ["-c", script, self.directory])
        try await freezer.ask("")
        do {
            try await body()
        } catch {
            await freezer.quit()
            throw error
        }
        let code = await freezer.quit()
        guard code == 0 else {
            throw WorkerProcess.Failure(description: "the file system was not frozen to the end: \(code)")
        }
    }

    /// Copies a file so that both share their blocks: nobody can write to one of them where there is no room.
    package func share(_ path: String, with copy: String) async throws {
        try await Self.run(["cp", "--reflink=always", path, copy])
        try await Self.run(["sync", "-f", self.directory])
    }

    private static func run(_ words: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let code = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        guard code == 0 else {
            throw WorkerProcess.Failure(description: "could not \(words.joined(separator: " "))")
        }
    }
}
#endif
