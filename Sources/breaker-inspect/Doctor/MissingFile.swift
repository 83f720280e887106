import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
// In a target with files that do not use `stat`, the compiler believes that this module defines the fields of `stat`.
import SwiftOverlayShims
#endif

/// The doctor's findings if there is no store: where stores are, and which option or variable to set.
struct MissingFile {
    private static let namesShown = 5

    let path: String
    /// The option or variable that named the path.
    let source: String
    /// The user who runs the tool.
    let user: String

    var findings: [Finding] {
        [self.file, self.directory, self.workers, KeptFiles(beside: self.path).finding(beside: nil), self.userFinding]
            .compactMap(\.self)
    }

    private var file: Finding {
        // An empty file, or one whose creation was cut short, is no store yet.
        guard !Self.exists(self.path) else {
            return .wrong(
                "file", "\(self.path.quoted), named by \(self.source), holds no store yet",
                "a service makes the store when it opens the file; see that one is started with this path"
            )
        }
        let directory = self.path.hasPrefix("/") ? "" : ", as seen from \((Self.workingDirectory ?? ".").quoted)"
        return .wrong(
            "file", "there is no \(self.path.quoted)\(directory), which \(self.source) names",
            "name the services' path in --store or BREAKER_STORE; the first service to open it makes the file"
        )
    }

    private var directory: Finding {
        let directory = Self.parent(of: self.path)
        guard let info = Self.info(directory) else {
            var there = Self.parent(of: directory)
            while !Self.exists(there), there != "/", there != "." { there = Self.parent(of: there) }
            return .wrong(
                "directory", "there is no \(directory.quoted); the path exists up to \(there.quoted)",
                "no service makes it: create it as the services' user, or mount it into the container"
            )
        }
        let text =
            "\(directory.quoted) is there: 0\(String(info.st_mode & 0o777, radix: 8)) of user \(info.st_uid), "
            + "group \(info.st_gid)"
        let stores = Self.stores(in: directory)
        guard !stores.isEmpty else { return .note("directory", "\(text); it holds no store") }
        let shown = stores.prefix(Self.namesShown).map(\.quoted).joined(separator: ", ")
        let more = stores.count > Self.namesShown ? " and \(stores.count - Self.namesShown) more" : ""
        return .note("directory", "\(text); it holds \(shown)\(more)", "name the one that the services use")
    }

    /// The workers that have lost a file at this path; nil if there are none.
    private var workers: Finding? {
        let count = LiveWorkers.countOfDegraded(at: self.path)
        guard count > 0 else { return nil }
        return .wrong(
            "workers",
            "\(count.counted("live worker")) \(count == 1 ? "uses" : "use") this path, and "
                + "\(count == 1 ? "guards" : "guard") in memory",
            LiveWorkers.adviceWithoutFile
        )
    }

    private var userFinding: Finding {
        .note(
            "user", "you are \(self.user.escaped), user \(geteuid())",
            "services that run as another user or in a container may see another file at this path: look at their "
                + "configuration, and run this as they do"
        )
    }

    // MARK: - Files

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func info(_ path: String) -> stat? {
        var info = stat()
        return unsafe stat(path, &info) == 0 ? info : nil
    }

    private static var workingDirectory: String? {
        guard let path = unsafe realpath(".", nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names of the stores in a directory: each has a lock file beside it.
    private static func stores(in directory: String) -> [String] {
        let names = DirectoryListing.names(in: directory).compactMap { name -> String? in
            guard name.hasSuffix("-lock") else { return nil }
            let store = String(name.dropLast("-lock".utf8.count))
            let facts = try? StoreFiles(path: "\(directory)/\(store)")
            guard let facts, facts.database != nil, facts.isLockFileOfStore else { return nil }
            return store
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
