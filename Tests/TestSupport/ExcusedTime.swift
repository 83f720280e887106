/// A time on the processes' clock, in microseconds, of which failures may be missing from a file.
///
/// The part `files` tells workers when a file was gone, or another one in its place.
package struct ExcusedTime: Sendable, CustomStringConvertible {
    package enum Excuse: String {
        /// Nothing of then need be in the file: it was another one.
        case all
        /// Only what was acknowledged at once must be: the rest may have been meant for another file.
        case slow
    }

    package let start: Int64
    package let end: Int64
    package let excuse: Excuse

    package var description: String { "\(self.start)-\(self.end)-\(self.excuse.rawValue)" }

    package init(_ start: Int64, _ end: Int64, _ excuse: Excuse) {
        self.start = start
        self.end = end
        self.excuse = excuse
    }

    package init?(_ text: Substring) {
        let words = text.split(separator: "-")
        guard words.count == 3, let start = Int64(words[0]), let end = Int64(words[1]),
            let excuse = Excuse(rawValue: String(words[2]))
        else { return nil }
        self.init(start, end, excuse)
    }

    package func overlaps(_ start: Int64, _ end: Int64) -> Bool { start <= self.end && end >= self.start }
}
