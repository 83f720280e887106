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
    /// The failure for an error of the library about the store at `path`.
    init(_ error: BreakerStoreError, path: String, doing: String) {
        let reason = error.message.isEmpty ? "\(error.code)" : error.message.escaped
        switch error.code {
        case .notFound:
            // An empty file, or one whose creation was cut short, is no store yet.
            let isThere = unsafe access(path, F_OK) == 0
            let degraded = LiveWorkers.countOfDegraded(at: path)
            let message = "cannot \(doing) \(path.quoted): \(isThere ? "it holds no store yet" : "no such file")"
            self.init(
                .failed,
                degraded == 0
                    ? message
                    : message + ", but \(degraded.counted("live worker")) \(degraded == 1 ? "uses" : "use") it,"
                        + " and \(degraded == 1 ? "guards" : "guard") in memory",
                hint: degraded == 0
                    ? "name the file that the services use with --store or BREAKER_STORE; only 'run', 'admit' and"
                        + " 'record' create one"
                    : LiveWorkers.adviceWithoutFile
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

extension LiveWorkers {
    /// The advice if workers have lost their file.
    static let adviceWithoutFile =
        "they create the file, and restore the holds that they know, as soon as they can write in its directory: look "
        + "at that directory's permissions, owner and disk"
}

extension Console {
    /// Writes the message and the hint.
    func writeError(_ failure: Failure) { self.writeError(failure, of: Tool.program) }
}
