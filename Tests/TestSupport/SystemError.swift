#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A system call that failed.
package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    /// Takes the reason from `errno`, or from what a function returned instead.
    package init(_ doing: String, code: Int32? = nil) {
        self.description = unsafe "cannot \(doing): \(String(cString: strerror(code ?? errno)))"
    }
}
