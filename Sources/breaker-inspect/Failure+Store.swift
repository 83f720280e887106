import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Failure {
    /// The library's error about the store at `path`.
    init(_ error: BreakerStoreError, path: String, doing: String) {
        let reason = error.message.isEmpty ? "\(error.code)" : error.message.escaped
        switch error.code {
        case .notFound:
            // An empty file, or one whose making was cut short, is no store yet.
            let isThere = unsafe access(path, F_OK) == 0
            self.init(
                .failed,
                "cannot \(doing) \(path.quoted): \(isThere ? "it holds no store yet" : "no such file")",
                hint: "this tool creates none; name the file that the services use with --store or BREAKER_STORE"
            )
        case .busy:
            let holder = (try? StoreFiles(path: path)).flatMap(WriterCheck.init)
            self.init(
                .busy,
                "cannot \(doing) \(path.quoted): \(holder?.sentence ?? reason)",
                hint: holder?.advice
                    ?? "try again; a process that was stopped while it wrote (state T in ps) blocks the others"
            )
        default:
            let message = reason.hasPrefix("cannot ") ? reason : "cannot \(doing) \(path.quoted): \(reason)"
            self.init(.failed, message, hint: error.advice?.escaped)
        }
    }
}

extension Console {
    /// Writes the message and the hint.
    func writeError(_ failure: Failure) { self.writeError(failure, of: Tool.program) }
}
