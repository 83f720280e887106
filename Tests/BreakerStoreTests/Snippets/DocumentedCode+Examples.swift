import FoundationEssentials

extension DocumentedCode {
    /// A block of Swift in a documentation comment of the library, with the line that the comment stands above.
    struct Example: Sendable, CustomStringConvertible {
        var piece: Piece
        var declaration: String
        var description: String { "\(self.piece.place): \(self.declaration)" }

        /// - Parameter words: a keyword and a name, such as `struct TripRule`.
        func declares(_ words: String) -> Bool {
            let parts = self.declaration.split { !$0.isLetter && !$0.isNumber && $0 != "." }
            return " \(parts.joined(separator: " ")) ".contains(" \(words) ")
        }
    }

    /// What stands between `// snippet: NAME` and `// end` in this folder.
    struct NamedSnippet: Sendable, CustomStringConvertible {
        var piece: Piece
        var name: String
        var description: String { "\(self.piece.place): \(self.name)" }
    }

    static func examples() throws -> [Example] {
        let library = Self.package + "/Sources/BreakerStore"
        return try Self.sources(in: library).flatMap { path in try Self.examples(of: path) }
    }

    static func namedSnippets() throws -> [NamedSnippet] {
        try Self.sources(in: Self.parent(of: #filePath)).flatMap { path -> [NamedSnippet] in
            let lines = try Self.lines(of: path)
            let mark = "// snippet: "
            return lines.indices.compactMap { index -> NamedSnippet? in
                let trimmed = lines[index].drop { $0 == " " }
                guard trimmed.hasPrefix(mark) else { return nil }
                let body = lines[(index + 1)...].prefix { $0.drop { $0 == " " } != "// end" }
                let piece = Piece(place: Self.place(path, index), code: Self.normalised(Array(body)))
                return NamedSnippet(piece: piece, name: String(trimmed.dropFirst(mark.count)))
            }
        }
    }

    private static func examples(of path: String) throws -> [Example] {
        let lines = try Self.lines(of: path).map { String($0.drop { $0 == " " }) }
        return lines.indices.compactMap { index -> Example? in
            guard lines[index] == "/// ```swift" else { return nil }
            let body = lines[(index + 1)...].prefix { $0 != "/// ```" }.map { String($0.dropFirst("/// ".count)) }
            let declaration = lines[index...].first { !$0.hasPrefix("///") && !$0.hasPrefix("@") }
            let piece = Piece(place: Self.place(path, index), code: Self.normalised(body))
            return Example(piece: piece, declaration: declaration ?? "")
        }
    }

    private static func lines(of path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func place(_ path: String, _ index: Int) -> String {
        "\(path.dropFirst(Self.package.count + 1)):\(index + 1)"
    }

    /// The Swift files of a folder and of all folders in it.
    private static func sources(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }.sorted()
            .map { "\(folder)/\($0)" }
    }
}
