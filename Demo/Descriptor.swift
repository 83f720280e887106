#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open file, pipe or socket of this process, which its children do not inherit.
struct Descriptor: Hashable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    static func newPipe() throws -> (readEnd: Descriptor, writeEnd: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw DemoError.system("make a pipe", code: errno) }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    /// What has come, at most 4 KiB; nothing at the end or after an error.
    func receive() -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(self.number, &bytes, bytes.count)
            if count >= 0 { return bytes[..<count] }
            if errno != EINTR { return [] }
        }
    }

    /// Writes all of it; returns whether the other end took it.
    @discardableResult
    func send(_ text: String) -> Bool {
        self.send(Array(text.utf8)[...])
    }

    /// Writes all of them; returns whether the other end took them.
    @discardableResult
    func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        var bytes = bytes
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe write(self.number, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    func shut() { close(self.number) }

    /// Waits until one of them can be read or has ended, or the time is over; returns those.
    static func ready(of descriptors: [Descriptor], within time: Duration) -> Set<Descriptor> {
        var polled = descriptors.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        let (seconds, attoseconds) = time.components
        let milliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        guard unsafe poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return [] }
        return Set(zip(descriptors, polled).filter { $1.revents != 0 }.map(\.0))
    }
}
