import CBreakerStore

/// Recognises the file systems that can't hold a store.
struct FileSystem: Sendable {
    /// Returns the file system's magic number on Linux; on macOS 1 if the kernel does not call it local, else 0.
    ///
    /// -1 if it is unknown. A test replaces this function.
    var number: @Sendable (_ path: String) -> Int64 = { unsafe bs_file_system($0) }

    /// The name of the file system if not all users of a file share its locks or its shared memory; nil otherwise.
    ///
    /// https://sqlite.org/wal.html: "All processes using a database must be on the same host computer; WAL does not
    /// work over a network filesystem."
    ///
    /// A switch and not a dictionary: the first dictionary of a type would add a third of a millisecond to the opening.
    func unsuitableKind(of path: String) -> String? {
        switch self.number(path) {
        case 1: "network"
        case 0x6969: "NFS"
        case 0x517B: "SMB"
        case 0xFF53_4D42: "CIFS"
        case 0xFE53_4D42: "SMB2"
        case 0x6573_5546: "FUSE or virtiofs"
        case 0x0102_1997: "9p"
        case 0x7375_7245: "Coda"
        case 0x5346_414F, 0x6B41_4653: "AFS"
        case 0x00C3_6400: "Ceph"
        case 0x564C: "NCP"
        case 0x0BD0_0BD0: "Lustre"
        case 0x4750_4653: "GPFS"
        case 0x786F_4256: "vboxsf"
        case 0xBACB_ACBC: "HGFS"
        case 0x7461_636F: "OCFS2"
        case 0x0116_1970: "GFS2"
        default: nil
        }
    }
}
