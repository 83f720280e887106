import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The thread of one open file: it commits for tasks, checkpoints, watches the files and brings a lost store back.
final class StoreThread: Sendable {
    private let signal = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    func wake() { self.signal.signal() }

    /// Waits for a wake-up, or until the time is over.
    func sleep(for duration: Duration) {
        _ = self.signal.wait(timeout: .now() + .microseconds(Int(duration / .microseconds(1))))
    }

    /// Waits until the thread has ended; false if the deadline is over first.
    func waitForEnd(until deadline: Deadline) -> Bool {
        self.ended.wait(timeout: .now() + .microseconds(Int(deadline.remaining / .microseconds(1)))) == .success
    }

    /// Starts the thread, which keeps `core` alive until the core has been shut down.
    func start(for core: StoreCore) {
        let argument = unsafe Unmanaged.passRetained(core).toOpaque()
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        // Signals are the program's: a handler of its own must not run on this thread.
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let code = unsafe pthread_create(&thread, &attributes, StoreThread.main, argument)
        if code != 0 {
            unsafe Unmanaged<StoreCore>.fromOpaque(argument).release()
            core.degrade(
                BreakerStoreError(code: .unavailable, message: "no thread can be started", path: core.file.path))
        }
    }

    #if canImport(Darwin)
    private static let main: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
        unsafe StoreThread.run($0)
        return nil
    }
    #else
    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        if let argument = unsafe $0 { unsafe StoreThread.run(argument) }
        return nil
    }
    #endif

    private static func run(_ argument: UnsafeMutableRawPointer) {
        let core = unsafe Unmanaged<StoreCore>.fromOpaque(argument).takeRetainedValue()
        core.runThread()
        core.thread.ended.signal()
    }
}
