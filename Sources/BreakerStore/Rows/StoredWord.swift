/// Words in a row that this version does not know.
enum StoredWord {
    /// A flipped bit changes one letter, or makes of the word what is none.
    private static let mostLettersOfAnAccident = 2
    private static let longest = 40

    /// Whether a later version may have written the word; else an accident has made it of a known one, or nobody has
    /// written it.
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
