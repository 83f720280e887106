#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension BreakerStoreError {
    /// The error for a failed system call.
    init(systemError: Int32, doing: String, path: String) {
        let code: Code
        let advice: String
        switch systemError {
        case ENOENT, ENOTDIR: (code, advice) = (.notFound, "create the directory first")
        case EACCES, EPERM:
            (code, advice) = (.permissionDenied, "give this user read and write access to it and its directory")
        case EROFS: (code, advice) = (.permissionDenied, "remount the file system writable")
        case ENOSPC, EDQUOT: (code, advice) = (.full, "free space on the disk")
        case ENAMETOOLONG: (code, advice) = (.unsafePath, "name a shorter path")
        case ELOOP: (code, advice) = (.unsafePath, "name the file itself")
        case ENXIO: (code, advice) = (.unsafePath, "remove it, for only a regular file may be there")
        default: (code, advice) = (.unavailable, "try again")
        }
        let reason = unsafe String(cString: strerror(systemError))
        self.init(code: code, message: "cannot \(doing) '\(path)': \(reason)", advice: advice, path: path)
    }
}
