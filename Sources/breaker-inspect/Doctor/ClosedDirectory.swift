import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The first directory on the way to the store that this user can't enter.
struct ClosedDirectory {
    private let directory: StoreFiles.File

    /// Nil if there is none, or if this user can't see who owns it, such as behind a symbolic link.
    init?(on path: String) {
        var rest = path[...]
        while let slash = rest.firstIndex(of: "/") {
            rest = path[path.index(after: slash)...]
            let directory = slash == path.startIndex ? "/" : String(path[..<slash])
            guard unsafe access(directory, X_OK) != 0 else { continue }
            guard let found = StoreFiles.File(directory) else { return nil }
            self.directory = found
            return
        }
        return nil
    }

    /// - Parameter user: the login name of the user who runs the tool.
    func finding(user: String) -> Finding {
        .wrong(
            "permissions",
            "the directory \(self.directory.path.quoted) is \(FileChecks.text(self.directory)); you are \(user.escaped), "
                + "user \(geteuid()), and can't enter it",
            FileChecks.adviceToReaders)
    }
}
