import CBreakerStore

/// A thread that sleeps until it is woken: for what must run neither on a caller's thread nor on the cooperative pool.
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

    /// Waits for a wake-up, or for that time at most.
    func sleep(for duration: Duration) {
        _ = self.signal.wait(for: duration)
    }

    /// Waits for a wake-up, or until that time; nil: only for a wake-up.
    func sleep(until time: ContinuousClock.Instant?) {
        self.sleep(for: time.map { ContinuousClock.now.duration(to: $0) } ?? .seconds(1_000_000))
    }

    /// Waits until the thread has ended; false if the deadline is over first.
    package func waitForEnd(until deadline: Deadline) -> Bool {
        guard self.ended.wait(for: deadline.remaining) else { return false }
        // For the next who waits.
        self.ended.signal()
        return true
    }

    /// Starts the thread, which keeps alive what `body` has captured until that returns; false if the system has no
    /// thread left.
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
