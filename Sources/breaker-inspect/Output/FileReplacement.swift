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

/// Replaces a file as a whole, in one step (write, then rename): until then readers read the old file.
enum FileReplacement {
    /// Writes the file.
    ///
    /// - Parameters:
    ///   - mode: the file's permissions.
    ///   - stores: the stores whose files must not be replaced.
    ///   - mayReplace: whether an existing file is replaced.
    ///   - body: gets a function that writes a piece of the text.
    static func write(
        _ path: String, mode: mode_t, mayReplace: Bool = true, butNot stores: [String],
        _ body: ((String) throws(Failure) -> Void) throws(Failure) -> Void
    ) throws(Failure) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        guard slash < path.endIndex else {
            throw Failure(.failed, "cannot write \(path.quoted): it names a directory", hint: "name a file in it")
        }
        // Root could replace a device, too.
        var info = stat()
        if unsafe lstat(path, &info) == 0 {
            // Reported before the work is done; `link` finds a file that another process makes during the work.
            guard mayReplace || info.st_mode & S_IFMT != S_IFREG else { throw Self.exists(path) }
            guard info.st_mode & S_IFMT == S_IFREG else {
                throw Failure(
                    .failed, "cannot write \(path.quoted): it is not a regular file",
                    hint: "name a file")
            }
            for store in stores where StoreFiles.has(path, ofStore: store) {
                throw Failure(
                    .failed, "cannot write \(path.quoted): that is a file of the store \(store.quoted)",
                    hint: "name another file")
            }
        }
        // Beside the file, under a name that collectors of files skip and that no process can guess: processes of
        // several containers may have the same number.
        let temporary = "\(path[..<slash]).breaker-\(String(UInt64.random(in: 0 ... .max), radix: 36)).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        do throws(Failure) {
            defer { close(descriptor) }
            // Set here, because the process's umask might keep the file's readers out.
            fchmod(descriptor, mode)
            try body { (text) throws(Failure) in
                if let error = Descriptor.write(Array(text.utf8), to: descriptor) { throw Self.failure(path, error) }
            }
            try Self.move(temporary, to: path, mayReplace: mayReplace)
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
    }

    private static func move(_ temporary: String, to path: String, mayReplace: Bool) throws(Failure) {
        // Not all file systems have links; then `rename` may replace a file that another process has made since.
        var isDone = false
        if !mayReplace { isDone = try Self.link(temporary, path) }
        if !isDone {
            guard unsafe rename(temporary, path) == 0 else { throw Self.failure(path, errno) }
        }
    }

    /// Gives a file its name, unless another file has the name; returns whether this file system can.
    private static func link(_ temporary: String, _ path: String) throws(Failure) -> Bool {
        #if canImport(Glibc)
        let code = unsafe Glibc.link(temporary, path) == 0 ? 0 : errno
        #elseif canImport(Musl)
        let code = unsafe Musl.link(temporary, path) == 0 ? 0 : errno
        #else
        let code = unsafe Darwin.link(temporary, path) == 0 ? 0 : errno
        #endif
        switch code {
        case 0: _ = unsafe unlink(temporary)
        case EEXIST: throw Self.exists(path)
        case EPERM, EOPNOTSUPP, ENOSYS: return false
        default: throw Self.failure(path, code)
        }
        return true
    }

    private static func exists(_ path: String) -> Failure {
        Failure(.failed, "\(path.quoted) is there already", hint: "name another file, or replace it with --force")
    }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        let reason = unsafe String(cString: strerror(code))
        return Failure(
            .failed, "cannot write \(path.quoted): \(reason)",
            hint: (code == ENOSPC || code == EDQUOT
                ? "make room on its file system" : "its directory must exist and be writable for you")
                + "; an earlier file is unchanged")
    }
}
