import BreakerTool
import Testing

/// Taking apart what stands before the cursor in bash, and putting a word there.
@Suite struct BashLineTests {
    @Test(arguments: [
        ("b", ["b"]), ("b ", ["b", ""]), ("b  a", ["b", "a"]), ("b 'a b' c", ["b", "a b", "c"]),
        ("b \"a $x\" ", ["b", "a $x", ""]), (#"b a\ b\"#, ["b", "a b"]), (#"b "a\"\x"#, ["b", #"a"\x"#]),
        ("b '' ", ["b", "", ""]), ("b a'b'\"c\"d", ["b", "abcd"]), ("b 'a", ["b", "a"]), ("b >f a", ["b", "a"]),
        ("b 'a\u{301}'\u{301}", ["b", "a\u{301}\u{301}"]),
    ])
    func takesTheLineApart(line: String, words: [String]) {
        #expect(BashLine(line, replacing: "").words == words)
    }

    /// The part that bash replaces ends at the cursor; what has been typed before it stays.
    @Test(arguments: [
        ("b a", "a", "a b", #"a\ b"#), ("b 'a", "a", "a b", "a b"), ("b \"a", "a", "a$b!", #"a\$b"'!'"""#),
        ("b a:b", "b", "a:b:c", #"b\:c"#), ("b --s=op", "op", "--s=open", "open"), ("b '", "", "'x'", #"''\''x'\'''"#),
        ("b a'b", "b", "abc d", "bc d"), ("b \"", "", "\"", #"\"""#),
    ])
    func quotesAsTheLineNeedsIt(line: String, part: String, word: String, replacement: String) {
        #expect(BashLine(line, replacing: part).replacement(for: word) == replacement)
    }

    @Test func anotherBeginningIsNotReplaced() {
        #expect(BashLine("b a:b", replacing: "b").replacement(for: "c:b") == nil)
    }

    @Test func knowsWhereAFileStands() {
        #expect(BashLine("b list >f", replacing: "f").isRedirection)
        #expect(BashLine("b list >", replacing: "").isRedirection)
        #expect(BashLine("b list > ", replacing: "").isRedirection)
        #expect(!BashLine("b list >f ", replacing: "").isRedirection)
        #expect(!BashLine("b list '>f", replacing: ">f").isRedirection)
    }
}
