import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Ctrl-C and the like, noticed by who waits.
enum Interrupt {
    private static let received = Atomic<Int32>(0)

    /// The signal that came, if one did.
    static var signalNumber: Int32? {
        let number = self.received.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    static func watch() {
        // The handler must find it initialised.
        self.received.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { Interrupt.received.store($0, ordering: .relaxed) }
        }
        // Who writes to a process that has died gets an error instead.
        signal(SIGPIPE, SIG_IGN)
    }
}
