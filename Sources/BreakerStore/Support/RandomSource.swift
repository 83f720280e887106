import Synchronization

/// Makes random numbers without a system call for each: SplitMix64, seeded by the system.
final class RandomSource: Sendable {
    private let state = Atomic<UInt64>(.random(in: .min ... .max))

    /// The next number; each step mixes another multiple of the golden ratio, so no number is repeated within 2^64
    /// steps.
    func next() -> UInt64 {
        var value = self.state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// A random number in `0..<1`.
    func fraction() -> Double { Double(self.next() >> 11) * 0x1p-53 }
}
