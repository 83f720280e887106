import Testing

@testable import BreakerStore

@Suite struct SignalTests {
    /// Else a thread that was woken a thousand times while it worked would look around a thousand times.
    @Test func surplusSignalsEndOneWait() {
        let signal = Signal()
        for _ in 0..<1_000 { signal.signal() }
        #expect(signal.wait(for: .zero))
        #expect(!signal.wait(for: .zero))
    }

    @Test func aSignalThatComesFirstIsNotLost() {
        let signal = Signal()
        signal.signal()
        #expect(signal.wait(for: .seconds(3_600)))
    }
}
