/// What happened in a walk, if that is kept.
final class WalkLog {
    private let isKept: Bool
    private(set) var lines: [String] = []

    init(isKept: Bool) { self.isKept = isKept }

    func add(_ now: Int64, _ text: @autoclosure () -> String) {
        if self.isKept { self.lines.append("\(now / 1_000) ms \(text())") }
    }
}

/// Random numbers that a seed makes again.
struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    /// Mixed once: the numbers of two seeds that stand side by side must not be the same but for one.
    init(seed: UInt64) {
        self.state = seed
        self.state = self.next()
    }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
}
