import BreakerStore
import BreakerTool

/// Some exit codes, as `--ignore` takes them: numbers and ranges with commas between them, such as `1,64-78`.
struct ExitCodeSet: Hashable, Sendable {
    private var ranges: [ClosedRange<Int32>] = []

    init() {}

    init(_ text: String, of option: Option) throws(Failure) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = ends.first.flatMap(Self.code), let last = ends.last.flatMap(Self.code), first <= last
            else {
                throw .usage(
                    "option '\(option.spelling)' takes exit codes, not \(text.quoted)",
                    hint: "write numbers from 1 to 255, and ranges, with commas between them, such as 1,64-78")
            }
            self.ranges.append(first...last)
        }
    }

    func contains(_ code: Int32) -> Bool { self.ranges.contains { $0.contains(code) } }

    /// The exit code that a text names, from 1 to 255; nil for any other text.
    static func code(_ digits: Substring) -> Int32? {
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int32(digits), (1...255).contains(number)
        else { return nil }
        return number
    }
}
