import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A disk that can be copied in an instant: a file on a file system that shares blocks among copies, with a file system
/// of its own in it.
struct BlockDisk: Sendable {
    enum Kind: String, CaseIterable {
        case ext4, xfs, btrfs

        /// The command that makes it in a file.
        fileprivate func making(_ path: String) -> [String] {
            switch self {
            case .ext4: ["mkfs.ext4", "-q", "-F", path]
            case .xfs: ["mkfs.xfs", "-q", "-f", path]
            case .btrfs: ["mkfs.btrfs", "-q", "-f", path]
            }
        }

        /// A copy has the identity of what it is a copy of.
        fileprivate var mounting: String { self == .xfs ? "loop,nouuid" : "loop" }

        fileprivate var megabytes: off_t {
            switch self {
            case .ext4: 64
            case .xfs: 300
            case .btrfs: 128
            }
        }

        var isAvailable: Bool {
            ["/sbin/", "/usr/sbin/"].contains { unsafe access("\($0)mkfs.\(self)", X_OK) == 0 }
        }
    }

    /// Makes a file system that shares blocks, in `directory`, and mounts it there.
    static func mountBase(in directory: String) async throws -> String {
        let image = directory + "/base.img"
        let base = directory + "/base"
        guard unsafe mkdir(base, 0o700) == 0 else { throw SystemError("make \(base)") }
        let kind = Kind.btrfs.isAvailable ? Kind.btrfs : Kind.xfs
        try Self.makeFile(image, megabytes: 4_000)
        try await Self.run(kind.making(image))
        try await Self.run(["mount", "-o", "loop", image, base])
        return base
    }

    let kind: Kind
    private let base: String
    private var image: String { self.base + "/disk.img" }
    var place: String { self.base + "/disk" }

    /// Makes the disk and mounts it.
    init(_ kind: Kind, on base: String) async throws {
        self.kind = kind
        self.base = base
        unsafe unlink(self.image)
        try Self.makeFile(self.image, megabytes: kind.megabytes)
        try await Self.run(kind.making(self.image))
        unsafe mkdir(self.place, 0o700)
        try await self.mount(self.image)
    }

    func settle() { unsafe ts_sync_all(self.place) }

    private func copy(_ number: Int) -> String { "\(self.base)/copy-\(number).img" }

    /// Copies the disk as it is at one instant: what the file system has not sent there yet is missing.
    func take(_ number: Int) throws {
        guard unsafe ts_share_blocks(self.image, self.copy(number)) == 0 else { throw SystemError("copy the disk") }
    }

    func unmount() async throws {
        try await Self.run(["umount", self.place])
        // The kernel would take the next copy for the same disk, as it was before.
        if self.kind == .btrfs { try? await Self.run(["btrfs", "device", "scan", "--forget"]) }
    }

    /// Mounts a copy in the disk's place, as a host does that comes up again; its file system mends itself.
    func mountCopy(_ number: Int) async throws { try await self.mount(self.copy(number)) }

    func removeCopy(_ number: Int) { unsafe unlink(self.copy(number)) }

    private func mount(_ image: String) async throws {
        try await Self.run(["mount", "-t", self.kind.rawValue, "-o", self.kind.mounting, image, self.place])
    }

    private static func makeFile(_ path: String, megabytes: off_t) throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("create \(path)") }
        defer { close(descriptor) }
        guard ftruncate(descriptor, megabytes << 20) == 0 else { throw SystemError("enlarge \(path)") }
    }

    /// Runs a command of the system; throws if it fails.
    private static func run(_ command: [String]) async throws {
        let process = try WorkerProcess(program: "/usr/bin/env", arguments: command)
        defer { process.clear() }
        let code = await process.end()
        guard code == 0 else { throw SystemError(command.joined(separator: " "), code: 0) }
    }
}
