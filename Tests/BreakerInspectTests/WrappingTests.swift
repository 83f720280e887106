import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct WrappingTests {
    @Test(arguments: [
        ("one two three", 7, ["one two", "three"]), ("one two three", 13, ["one two three"]),
        ("one two three", 3, ["one", "two", "three"]), ("  one two", 7, ["  one", "two"]),
        ("a  wide  gap", 8, ["a  wide", "gap"]), ("東京 都庁", 5, ["東京", "都庁"]),
        ("hint: a-word-wider-than-a-line", 10, ["hint:", "a-word-wider-than-a-line"]),
        ("Go on? [y/N] ", 9, ["Go on?", "[y/N] "]), ("\u{1B}[1mone\u{1B}[0m two", 7, ["\u{1B}[1mone\u{1B}[0m two"]),
    ])
    func breaksAtSpacesOnly(text: String, width: Int, lines: [String]) {
        #expect(text.wrapped(to: width) == lines)
        #expect(text.wrapped(to: nil) == [text])
    }

    @Test func theRestOfALineIsIndentedLikeItsBeginning() {
        let text = "one two\n\n  three four five\n"
        #expect(text.wrappedLines(to: 9) == "one two\n\n  three\n  four\n  five\n")
        #expect(text.wrappedLines(to: 9, hanging: 2) == "one two\n\n  three\n    four\n    five\n")
        // An indent leaves half of the line.
        #expect(text.wrappedLines(to: 9, hanging: 20) == "one two\n\n  three\n    four\n    five\n")
        #expect(text.wrappedLines(to: nil, hanging: 2) == text)
    }

    /// Output and messages may go to terminals of their own, or only one of them to a terminal.
    @Test func eachStreamHasItsOwnWidth() {
        let console = RecordingConsole(width: 9)
        console.writeLines("one two three\n")
        console.writeError("one two three\n")
        #expect(console.output == "one two\nthree\n" && console.talk == "one two three\n")
        console.errorWidth = 5
        console.writeError("one two three\n")
        #expect(console.talk.hasSuffix("\none\ntwo\nthree\n"))
    }
}
