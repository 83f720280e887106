import Testing

@testable import BreakerStore

#if BREAKERSTORE_HOOKS
/// Debug builds see to the order in which a thread takes locks.
@Suite(.timeLimit(.minutes(10))) struct LockRankTests {
    @Test func locksAreTakenUpwards() {
        let life = Mutex(1, rank: .life)
        let memory = Mutex(2, rank: .memory)
        let leaf = Mutex(3)
        let sum = life.withLock { one in
            memory.withLock { two in leaf.withLock { three in one + two + three } }
        }
        #expect(sum == 6)
        // What was let go counts no longer.
        let again = life.withLock { $0 }
        #expect(again == 1)
    }

    @Test func theWrongWayRoundEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let life = Mutex(1, rank: .life)
            let memory = Mutex(2, rank: .memory)
            _ = memory.withLock { one in life.withLock { two in one + two } }
        }
    }

    @Test func twoOfOneRankEndTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let one = Mutex(1)
            let two = Mutex(2)
            _ = one.withLock { one in two.withLock { two in one + two } }
        }
    }

    /// A thread that waits for nothing can't be part of a deadlock.
    @Test func triesAreFree() {
        let life = Mutex(1, rank: .life)
        let memory = Mutex(2, rank: .memory)
        let sum = memory.withLock { one in life.withLockIfAvailable { $0 + one } }
        #expect(sum == 3)
    }
}
#endif
