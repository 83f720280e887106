/// One of the commands of a line of input: words, some of them `key=value`.
struct Command {
    struct Malformed: Error {
        let missing: String
    }

    let verb: String
    private let words: [String]

    /// The commands of a line, which ` ; ` parts.
    static func all(of line: String) -> [Command] { line.split(separator: " ; ").map { Command(String($0)) } }

    init(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        self.verb = words.first ?? ""
        self.words = Array(words.dropFirst())
    }

    /// The word in a place behind the verb.
    func word(_ place: Int) throws -> String {
        guard self.words.indices.contains(place) else { throw Malformed(missing: "word \(place)") }
        return self.words[place]
    }

    /// The number in a place behind the verb.
    func number(_ place: Int) throws -> Int {
        guard let number = Int(try self.word(place)) else { throw Malformed(missing: "number \(place)") }
        return number
    }

    /// All from a place on.
    func rest(_ place: Int) -> String { self.words.dropFirst(place).joined(separator: " ") }

    /// Whether a word is there.
    func has(_ word: String) -> Bool { self.words.contains(word) }

    /// The number of a key.
    func option(_ key: String) -> Double? { self.text(key).flatMap { Double($0) } }

    /// The text of a key.
    func text(_ key: String) -> String? {
        self.words.first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
    }
}
