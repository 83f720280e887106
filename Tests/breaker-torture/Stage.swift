import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a part plays: its options, its report, and a directory that goes with it.
final class Stage: Sendable {
    let options: Options
    let report: Report
    /// In memory where the system has a place for that: a sync takes no time there.
    let directory: String

    init(_ options: Options, _ report: Report) throws {
        self.options = options
        self.report = report
        self.directory = try Directory.make("breaker-torture")
    }

    func clear() { Directory.remove(self.directory) }
}

/// Random numbers that follow from a seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var bits = self.state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
