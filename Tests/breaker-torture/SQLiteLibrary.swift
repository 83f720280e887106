import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A library of SQLite that processes load instead of the usual one.
struct SQLiteLibrary {
    private static let variable = "LD_LIBRARY_PATH"

    /// The words of the command that starts a program with it.
    let launcher: [String]
    /// As a process says that has loaded it.
    let version: String

    init(in folder: String) async throws {
        self.launcher = ["env", "\(Self.variable)=\(Self.path(with: folder))"]
        let process = try WorkerProcess(through: self.launcher)
        self.version = try await process.ask("query :memory: SELECT sqlite_version()")["row"] ?? ""
        await process.quit()
    }

    /// What this process becomes loads the library of the folder.
    static func load(from folder: String) { unsafe setenv(Self.variable, Self.path(with: folder), 1) }

    private static func path(with folder: String) -> String {
        folder + (unsafe getenv(Self.variable).map { ":" + (unsafe String(cString: $0)) } ?? "")
    }
}
