#if PostgreSQL
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The service manager that started this process, such as systemd; sd_notify(3) describes the messages.
enum ServiceManager {
    /// Sends a message, such as `READY=1`; does nothing if no manager listens.
    static func send(_ message: String) {
        guard let path = unsafe getenv("NOTIFY_SOCKET").map({ unsafe Array(String(cString: $0).utf8) }), path.count > 1
        else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.count < room else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            unsafe bytes.copyBytes(from: path)
            // An abstract name begins with a zero byte.
            if path[0] == UInt8(ascii: "@") { unsafe bytes[0] = 0 }
        }
        #if canImport(Glibc)
        let kind = Int32(SOCK_DGRAM.rawValue)
        #else
        let kind = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(message.utf8)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, size)
            }
        }
    }

    /// Whether the journal reads standard error: it adds the time itself, and understands a priority before a line.
    static var readsErrors: Bool { unsafe getenv("JOURNAL_STREAM") != nil }
}
#endif
