/// Words in a row that this version does not know.
enum StoredWord {
    /// One flipped bit changes one letter of a known word, or gives a text that is no word.
    private static let mostLettersOfAnAccident = 2
    private static let longest = 40

    /// Whether a later version of the library may have written the word.
    ///
    /// Otherwise the word is a damaged form of a known one, or no word at all.
    static func mayBeOfALaterVersion(_ word: String, besides known: [String]) -> Bool {
        let letters = Array(word.utf8)
        let isWord =
            (1...Self.longest).contains(letters.count)
            && letters.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
        let isAlmostKnown = known.contains { one in
            one.utf8.count == letters.count
                && zip(one.utf8, letters).count { $0 != $1 } <= Self.mostLettersOfAnAccident
        }
        return isWord && !isAlmostKnown
    }
}
