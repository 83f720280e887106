#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which directory a path leads to, and when a name in it was last made, removed or changed to another file.
///
/// While the stamp of a store's directory stays the same, each name in it leads to the same file as before: one look
/// in place of one at each file.
struct DirectoryStamp: Equatable {
    private let directory: FoundFile.Number
    private let modified: FoundFile.Time
    private let changed: FoundFile.Time

    init?(of path: String) {
        guard let found = FoundFile(path) else { return nil }
        (self.directory, self.modified, self.changed) = (found.number, found.modified, found.changed)
    }

    /// Whether a change from now on shows in the stamp.
    ///
    /// File systems stamp by the kernel's tick, the coarsest by two seconds: within these a second change leaves the
    /// stamp as it is.
    var isSettled: Bool { Int64(time(nil)) > max(self.modified.seconds, self.changed.seconds) + 2 }
}

/// When the database and its log were last written.
struct FileStamp: Equatable {
    private struct One: Equatable {
        var number: FoundFile.Number
        var size: Int64
        var written: FoundFile.Time

        init?(_ path: String) {
            guard let found = FoundFile(path) else { return nil }
            (self.number, self.size, self.written) = (found.number, found.size, found.modified)
        }
    }

    private let database: One?
    private let log: One?

    init(of file: StoreFile) {
        self.database = One(file.path)
        self.log = One(file.log)
    }

    /// Whether both were last written so long before `now`, in Unix time, that a further write shows: the kernel
    /// stamps files by its tick.
    func isSettled(at now: Double) -> Bool {
        [self.database, self.log].compactMap(\.self).allSatisfy {
            now - (Double($0.written.seconds) + Double($0.written.nanoseconds) / 1_000_000_000) > 0.05
        }
    }
}
