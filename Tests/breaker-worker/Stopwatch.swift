import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How long calls took on a thread: the longest of them, and a percentile.
///
/// On a busy machine a thread waits for a processor at any time. So a call in which the thread never slept is said to
/// have taken what it used of a processor; only one that slept is said to have taken the time that passed.
struct Stopwatch: Sendable {
    /// Calls by the power of two of their nanoseconds.
    private var histogram = [Int](repeating: 0, count: 64)
    private(set) var calls = 0
    /// Nanoseconds.
    private(set) var longest: Int64 = 0
    /// Calls in which the thread slept.
    private(set) var sleeps = 0

    mutating func measure(_ body: () -> Void) {
        let (slept, used, began) = (ts_sleeps(), ts_now(CLOCK_THREAD_CPUTIME_ID), ts_now(CLOCK_MONOTONIC))
        body()
        self.ended(began, used, slept)
    }

    mutating func measure(_ body: () async -> Void) async {
        let (slept, used, began) = (ts_sleeps(), ts_now(CLOCK_THREAD_CPUTIME_ID), ts_now(CLOCK_MONOTONIC))
        await body()
        self.ended(began, used, slept)
    }

    private mutating func ended(_ began: Int64, _ used: Int64, _ slept: Int64) {
        var took = ts_now(CLOCK_MONOTONIC) - began
        self.histogram[64 - max(1, took).leadingZeroBitCount - 1] += 1
        if ts_sleeps() == slept { took = ts_now(CLOCK_THREAD_CPUTIME_ID) - used } else { self.sleeps += 1 }
        self.calls += 1
        self.longest = max(self.longest, took)
    }

    mutating func add(_ other: Stopwatch) {
        for place in self.histogram.indices { self.histogram[place] += other.histogram[place] }
        self.calls += other.calls
        self.longest = max(self.longest, other.longest)
        self.sleeps += other.sleeps
    }

    /// The time in microseconds, waits for a processor included, that all but one of a thousand calls stay below: the
    /// next power of two.
    private var percentile: Int {
        var rest = self.calls / 1_000
        for place in self.histogram.indices.reversed() {
            rest -= self.histogram[place]
            if rest < 0 { return max(1, (1 << (place + 1)) / 1_000) }
        }
        return 0
    }

    /// Microseconds.
    var text: String {
        "calls=\(self.calls) longest=\(self.longest / 1_000) sleeps=\(self.sleeps) p999=\(self.percentile)"
    }
}
