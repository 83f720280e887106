import CBreakerStore

/// A thread that sleeps until it is woken: its work must not run on a caller's thread or on the cooperative pool.
package final class StoreThread: Sendable {
    /// Carries the body over to the thread.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let signal = Signal()
    private let ended = Signal()

    package init() {}

    func wake() { self.signal.signal() }

    /// Blocks until a wake-up, for at most `duration`.
    func sleep(for duration: Duration) {
        _ = self.signal.wait(for: duration)
    }

    /// Blocks until a wake-up, or until `time` if there is one.
    func sleep(until time: ContinuousClock.Instant?) {
        self.sleep(for: time.map { ContinuousClock.now.duration(to: $0) } ?? .forever)
    }

    /// Blocks until the thread has ended; false if the deadline is over first.
    package func waitForEnd(until deadline: Deadline) -> Bool {
        guard self.ended.wait(for: deadline.remaining) else { return false }
        // For the next thread that waits.
        self.ended.signal()
        return true
    }

    /// Starts the thread, which keeps the captures of `body` until `body` returns; false if the system has no thread
    /// left.
    package func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let ended = self.ended
        let argument = unsafe Unmanaged.passRetained(
            Body {
                body()
                ended.signal()
            }
        ).toOpaque()
        let code = unsafe bs_start_thread(StoreThread.main, argument)
        if code != 0 { unsafe Unmanaged<Body>.fromOpaque(argument).release() }
        return code == 0
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        if let argument = unsafe $0 { unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
    }
}
