import CSQLite

/// What kind of file system a path is on.
struct FileSystem: Sendable {
    /// The number that tells the kind; a test puts another in its place.
    var number: @Sendable (_ path: String) -> Int64 = { unsafe bs_file_system($0) }

    /// The name of a file system on which locks or shared memory are not shared by all who use the file, or nil.
    ///
    /// https://sqlite.org/wal.html: "All processes using a database must be on the same host computer; WAL does not work
    /// over a network filesystem."
    func unsuitableKind(of path: String) -> String? { Self.unsuitable[self.number(path)] }

    private static let unsuitable: [Int64: String] = [
        1: "network", 0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2",
        0x6573_5546: "FUSE or virtiofs",
        0x0102_1997: "9p", 0x7375_7245: "Coda", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph",
        0x564C: "NCP",
        0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS", 0x786F_4256: "vboxsf", 0xBACB_ACBC: "HGFS", 0x7461_636F: "OCFS2",
        0x0116_1970: "GFS2",
    ]
}
