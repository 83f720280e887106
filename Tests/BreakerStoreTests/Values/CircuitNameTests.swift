import Testing

@testable import BreakerStore

@Suite struct CircuitNameTests {
    /// To Swift both spellings are one text, to SQLite they are two names.
    @Test func spellingsAreNames() {
        #expect("é" == "e\u{301}")
        var table = [CircuitName("é"): 1]
        table[CircuitName("e\u{301}")] = 2
        #expect(table == [CircuitName("é"): 1, CircuitName("e\u{301}"): 2])
        #expect(Set(["a", "b", "a"].map(CircuitName.init)).count == 2)
    }
}
