#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A system call that failed.
public struct SystemError: Error, CustomStringConvertible {
    public let description: String

    /// Takes the reason from `errno`, or from what a function returned instead.
    public init(_ doing: String, code: Int32? = nil) {
        self.description = unsafe "cannot \(doing): \(String(cString: strerror(code ?? errno)))"
    }
}
