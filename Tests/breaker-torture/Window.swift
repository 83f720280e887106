/// A time on the processes' clock, in microseconds.
struct Window: Sendable, CustomStringConvertible {
    enum Excuse: String {
        /// Nothing of then need be in the file: it was another one.
        case all
        /// Only what was acknowledged at once must be: the rest may have been meant for another file.
        case slow
    }

    let start: Int64
    let end: Int64
    let excuse: Excuse

    var description: String { "\(self.start)-\(self.end)-\(self.excuse.rawValue)" }

    init(_ start: Int64, _ end: Int64, _ excuse: Excuse) {
        self.start = start
        self.end = end
        self.excuse = excuse
    }

    init?(_ text: Substring) {
        let words = text.split(separator: "-")
        guard words.count == 3, let start = Int64(words[0]), let end = Int64(words[1]),
            let excuse = Excuse(rawValue: String(words[2]))
        else { return nil }
        self.init(start, end, excuse)
    }

    func overlaps(_ start: Int64, _ end: Int64) -> Bool { start <= self.end && end >= self.start }
}
