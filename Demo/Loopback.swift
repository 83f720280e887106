#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// TCP on this host alone.
enum Loopback {
    /// A socket that waits for callers on a port that the system chooses.
    static func newServer() throws -> (socket: Descriptor, port: UInt16) {
        let socket = try Self.newSocket()
        var address = Self.address(port: 0)
        guard unsafe Self.with(&address, { unsafe bind(socket.number, $0, $1) }) == 0,
            listen(socket.number, SOMAXCONN) == 0
        else { throw DemoError.system("listen on the loopback address", code: errno) }
        // A caller may be gone again before it is accepted.
        _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard unsafe Self.with(&address, { place, _ in unsafe getsockname(socket.number, place, &size) }) == 0
        else { throw DemoError.system("learn the port", code: errno) }
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    /// The next caller, if there is one.
    static func caller(of socket: Descriptor) -> Descriptor? {
        let number = accept(socket.number, nil, nil)
        guard number >= 0 else { return nil }
        let connection = Descriptor(number)
        // Darwin hands the listener's flags on.
        _ = fcntl(number, F_SETFL, 0)
        return connection
    }

    static func connection(to port: UInt16) throws -> Descriptor {
        let socket = try Self.newSocket()
        var address = Self.address(port: port)
        guard unsafe Self.with(&address, { unsafe connect(socket.number, $0, $1) }) == 0 else {
            defer { socket.shut() }
            throw DemoError.system("reach the service", code: errno)
        }
        return socket
    }

    private static func newSocket() throws -> Descriptor {
        #if canImport(Glibc)
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let number = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard number >= 0 else { throw DemoError.system("make a socket", code: errno) }
        return Descriptor(number)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func with(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
        }
    }
}
