import BreakerTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A disk without room: calls run, are counted in memory, and their reports come back to the file.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct FullDiskTests {
    @Test func aFullDiskLosesNothingAndStopsNobody() async throws { try await Torture.run("disk") }

    #if os(Linux)
    /// The commands that make file systems, with the size that they need.
    ///
    /// With small blocks a file system has only a part of a wal-index as SQLite makes it. btrfs, where it is installed,
    /// writes nothing twice to one place.
    private static let images = [
        "12M /sbin/mkfs.ext4 -q -F -m 0 -b 1024", "12M /sbin/mkfs.ext4 -q -F -m 0 -b 4096", "128M /sbin/mkfs.btrfs -q",
    ].filter { unsafe access(String($0.split(separator: " ")[1]), X_OK) == 0 }

    private static let canMountImages = unsafe geteuid() == 0 && access("/dev/loop-control", R_OK | W_OK) == 0

    /// `make filesystems` has more of them.
    ///
    /// The mount and its loop device go with the last process of the namespace.
    @Test(
        .enabled(if: Self.canMountImages && !Self.images.isEmpty, "only root may mount an image of a file system"),
        arguments: Self.images)
    func aFullDiskWithARealFileSystemDoes(image: String) async throws {
        let script = #"""
            cd "$0" && mkdir disk && truncate -s "${1%% *}" image && ${1#* } image >&2 && shift &&
            mount -o loop image disk && BREAKERSTORE_SMALL_DISK=$0/disk exec "$@"
            """#
        let launcher = ["unshare", "--mount", "sh", "-c", script, try Workplace.here.directory, image]
        try await Torture.run("disk", through: launcher)
    }
    #endif
}
