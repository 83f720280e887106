/// What the story says of itself, each sentence checked.
final class Claims {
    private(set) var count = 0
    private(set) var failures = 0
    private let console: Console

    init(_ console: Console) {
        self.console = console
    }

    func check<Value: Equatable>(_ claim: String, _ found: Value, is expected: Value) {
        self.record(claim, found == expected, "expected \(Self.text(expected)), found \(Self.text(found))")
    }

    func check<Value: Comparable>(_ claim: String, _ found: Value, in range: ClosedRange<Value>) {
        self.record(
            claim, range.contains(found),
            "expected \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)), found \(Self.text(found))")
    }

    private static func text(_ value: some Any) -> String {
        if let duration = value as? Duration { duration.readable } else { "\(value)" }
    }

    private func record(_ claim: String, _ holds: Bool, _ difference: String) {
        self.count += 1
        if !holds { self.failures += 1 }
        self.console.tellClaim(holds ? claim : "\(claim): \(difference)", holds: holds)
    }
}
