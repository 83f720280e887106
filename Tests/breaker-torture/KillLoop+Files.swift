import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// Files as bytes, of stores that nobody has open.
    enum Files {
        static func bytes(of path: String) -> [UInt8] {
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return [] }
            defer { close(descriptor) }
            var all: [UInt8] = []
            var some = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe read(descriptor, &some, some.count)
                guard count > 0 else { return all }
                all += some[..<count]
            }
        }

        static func write(_ bytes: [UInt8], to path: String) {
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return }
            _ = writeBytes(descriptor, bytes, bytes.count)
            close(descriptor)
        }

        /// Whether one of the files that were set aside has these bytes.
        static func isKept(_ bytes: [UInt8], besides path: String) -> Bool {
            self.names(besides: path).contains { $0.contains(".corrupt-") && self.bytes(of: $0) == bytes }
        }

        /// The files whose paths begin like the database's.
        static func names(besides path: String) -> [String] {
            let end = path.lastIndex(of: "/") ?? path.startIndex
            return Directory.names(in: String(path[..<end])).map { "\(path[..<end])/\($0)" }
        }
    }
}

// The enum's own `write` hides the C function.
private func writeBytes(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
