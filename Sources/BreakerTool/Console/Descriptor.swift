#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes to open files.
package enum Descriptor {
    /// Writes all bytes; returns the error, or nil on success.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                #if canImport(Darwin)
                unsafe Darwin.write(descriptor, $0.baseAddress, $0.count)
                #elseif canImport(Musl)
                unsafe Musl.write(descriptor, $0.baseAddress, $0.count)
                #else
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
                #endif
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
