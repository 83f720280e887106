import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The directory of one case: the store's own, one for temporary files, and what a payload would make or change.
struct HostilePlace: Sendable {
    let directory: String

    var store: String { "\(self.directory)/store" }
    var path: String { "\(self.store)/a.db" }
    var temporary: String { "\(self.directory)/tmp" }
    /// What a payload makes if it runs.
    var canary: String { "\(self.directory)/canary" }
    /// A database that a payload changes if it runs.
    var attached: String { "\(self.directory)/attached.db" }
    /// The file that a dangling link leads to.
    var target: String { "\(self.directory)/target" }

    /// Which file the database is; nil where there is none.
    var databaseNumber: UInt64? {
        var info = stat()
        return unsafe lstat(self.path, &info) == 0 ? UInt64(info.st_ino) : nil
    }

    init(_ directory: String) throws {
        self.directory = directory
        // Others must come to the store's directory, whoever made the one around it.
        for path in [directory, self.store, self.temporary] {
            guard unsafe mkdir(path, 0o755) == 0 else { throw SystemError("make \(path)") }
        }
    }

    /// Makes the database that a payload would change.
    func makeAttached() throws {
        guard SQLiteFile.run(self.attached, "CREATE TABLE own (name TEXT); INSERT INTO own VALUES ('Ann')") else {
            throw SystemError("make \(self.attached)")
        }
    }

    /// Puts a file in the place of another.
    func move(_ from: String, to: String) throws {
        guard unsafe rename(from, to) == 0 else { throw SystemError("rename \(from)") }
    }

    func clear() {
        unsafe chmod(self.store, 0o755)
        Directory.remove(self.directory)
    }
}
