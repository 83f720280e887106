#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// poll(2), for a few descriptors.
enum Poll {
    /// Waits until one of the descriptors is ready; returns all that are ready, or none if the time is over.
    ///
    /// A descriptor with an error or a closed peer counts as ready: the next call that uses it fails.
    static func wait(for duration: Duration, reading: [Int32] = [], writing: [Int32] = []) -> [Int32] {
        var entries = reading.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        entries += writing.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        // Rounded up, so that a wait never ends early and makes its caller spin.
        let milliseconds = (min(max(.zero, duration), .seconds(3_600)) + .microseconds(999)) / .milliseconds(1)
        guard unsafe poll(&entries, nfds_t(entries.count), Int32(milliseconds)) > 0 else { return [] }
        return entries.filter { $0.revents != 0 }.map(\.fd)
    }

    /// Ends both directions of a socket, so that no later write to it can block.
    static func shutDown(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RDWR)) }
}
#endif
