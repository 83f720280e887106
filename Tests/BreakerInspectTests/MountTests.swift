import Testing

@testable import breaker_inspect

/// Which file system a directory is on, by the kernel's list.
@Suite struct MountTests {
    private static let list = #"""
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        30 22 0:25 / /var rw shared:2 - btrfs /dev/sdb rw
        31 22 0:25 / /var/lib rw - xfs /dev/sdc rw
        32 22 0:26 / /var/lib rw master:1 - tmpfs tmpfs rw,size=22m
        33 22 0:27 / /srv/my\040shop rw - ext4 /dev/sdd rw
        broken
        34 22 0:28 / /broken rw
        """#

    @Test(arguments: [
        ("/", "/", "ext4"), ("/home/a", "/", "ext4"), ("/var", "/var", "btrfs"), ("/var/lib", "/var/lib", "tmpfs"),
        ("/var/lib/shop", "/var/lib", "tmpfs"), ("/var/library", "/var", "btrfs"),
        ("/srv/my shop/a", "/srv/my shop", "ext4"),
        ("/broken", "/", "ext4"),
    ])
    func isTheLongestAndTheLast(directory: String, path: String, kind: String) {
        let mount = Mount(of: directory, in: Self.list)
        #expect(mount?.path == path && mount?.kind == kind)
    }

    @Test(arguments: [
        ("rw,relatime", "rw", Mount.Access.readWrite), ("rw", "rw,errors=remount-ro", .readWrite),
        ("ro,relatime", "rw", .readOnlyHere), ("ro,relatime", "ro", .readOnly),
        ("rw", "ro,errors=remount-ro", .readOnly),
        ("rw", "rw,emergency_ro", .readOnly), ("rw", "rw,shutdown", .readOnly),
    ])
    func saysWhoMayWrite(options: String, all: String, access: Mount.Access) {
        #expect(Mount(of: "/var", in: "30 22 0:25 / / \(options) shared:2 - ext4 /dev/sdb \(all)")?.access == access)
    }

    @Test(arguments: ["", "\n", "- - -", "1 2 3 4 /x"]) func isUnknownWithoutAList(list: String) {
        #expect(Mount(of: "/var", in: list) == nil)
    }
}
