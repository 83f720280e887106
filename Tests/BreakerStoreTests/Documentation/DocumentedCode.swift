import FoundationEssentials

/// The code in what people read, and the code in this folder that stands for it.
enum DocumentedCode {
    /// A piece of code and where it was found.
    struct Piece: Sendable, CustomStringConvertible {
        var place: String
        var code: String
        var description: String { self.place }
    }

    private static let folder = Self.parent(of: #filePath)
    private static let package = Self.parent(of: Self.parent(of: Self.parent(of: Self.folder)))

    /// The ```` ```swift ```` blocks of the README and the articles.
    ///
    /// A block that begins with `// Package.swift` is left out: it is a part of a manifest.
    static func blocks() throws -> [Piece] {
        let catalog = Self.package + "/Sources/BreakerStore/Documentation.docc"
        let articles = try Self.files(in: catalog, ending: ".md").map { "\(catalog)/\($0)" }
        return try (articles + [Self.package + "/README.md"]).flatMap { path in
            try Self.pieces(of: path, from: "```swift", to: "```")
                .filter { !$0.code.hasPrefix("// Package.swift") }
        }
    }

    /// What stands between `// snippet` and `// end of snippet` in this folder.
    static func snippets() throws -> [Piece] {
        try Self.files(in: Self.folder, ending: "Snippets.swift").flatMap { file in
            try Self.pieces(of: "\(Self.folder)/\(file)", from: "// snippet", to: "// end of snippet")
        }
    }

    private static func pieces(of path: String, from first: String, to last: String) throws -> [Piece] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var pieces: [Piece] = []
        var open: (line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = String(line.drop { $0 == " " })
            if let piece = open, trimmed == last {
                let place = "\(path.dropFirst(Self.package.count + 1)):\(piece.line)"
                pieces.append(Piece(place: place, code: Self.normalised(piece.lines)))
                open = nil
            } else if open != nil {
                open?.lines.append(String(line))
            } else if trimmed == first {
                open = (index + 1, [])
            }
        }
        return pieces
    }

    /// Without the indentation that all lines have, and without imports: a function's body has none.
    private static func normalised(_ lines: [String]) -> String {
        let lines = lines.drop { $0.hasPrefix("import ") || $0.isEmpty }
        let margin = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(margin)) }.joined(separator: "\n")
    }

    private static func files(in folder: String, ending: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(ending) }.sorted()
    }

    private static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
    }
}
