#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// When the database and its log were last written.
struct FileStamp: Equatable {
    private struct SingleFile: Equatable {
        var number: FoundFile.Number
        var size: Int64
        var written: FoundFile.Time

        init?(_ path: String) {
            guard let found = FoundFile(path) else { return nil }
            (self.number, self.size, self.written) = (found.number, found.size, found.modified)
        }
    }

    private let database: SingleFile?
    private let log: SingleFile?

    init(of file: StoreFile) {
        self.database = SingleFile(file.path)
        self.log = SingleFile(file.log)
    }

    /// Whether both files were last written more than 50 ms before `now` (Unix time, in seconds).
    ///
    /// A later timestamp may belong to the current tick of the kernel's clock, and a second write in that tick would
    /// not change it.
    func isSettled(at now: Double) -> Bool {
        [self.database, self.log].compactMap(\.self).allSatisfy { $0.written.isSettled(at: now) }
    }
}

/// A directory and when its names last changed (ctime): while this stays the same, each path into it leads to the same
/// file.
///
/// The kernel updates the ctime when a file in the directory is made, removed, renamed or replaced, and no program can
/// set it. A file system that is mounted over one file does not change it.
struct DirectoryStamp: Equatable {
    private let number: FoundFile.Number
    private let changed: FoundFile.Time

    /// Nil if there is no directory at the path.
    init?(_ path: String) {
        guard let found = FoundFile(path) else { return nil }
        (self.number, self.changed) = (found.number, found.changed)
    }

    /// Whether any change from now on gives the directory another ctime.
    ///
    /// A change in the current tick of the kernel's clock may leave the ctime as it is. A file system that stores no
    /// nanoseconds may do so for two seconds.
    var isSettled: Bool {
        self.changed.nanoseconds != 0 && self.changed.isSettled(at: Date().timeIntervalSince1970)
    }
}

extension FoundFile.Time {
    /// Whether the time is more than 50 ms before `now` (Unix time, in seconds).
    fileprivate func isSettled(at now: Double) -> Bool {
        now - (Double(self.seconds) + Double(self.nanoseconds) / 1_000_000_000) > 0.05
    }
}
