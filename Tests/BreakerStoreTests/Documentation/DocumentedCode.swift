import FoundationEssentials

/// The code in what people read, and the code of tests and their programs that stands for it.
enum DocumentedCode {
    /// A piece of code and where it was found.
    struct Piece: Sendable, CustomStringConvertible {
        var place: String
        var code: String
        var description: String { self.place }
    }

    private static let folder = Self.parent(of: #filePath)
    static let package = Self.parent(of: Self.parent(of: Self.parent(of: Self.folder)))

    /// The README and the articles.
    static func documents() throws -> [String] {
        let catalog = Self.package + "/Sources/BreakerStore/Documentation.docc"
        return try Self.files(in: catalog, ending: ".md").map { "\(catalog)/\($0)" } + [Self.package + "/README.md"]
    }

    /// The lines of all documents that make a package depend on this one.
    static func manifestLines() throws -> [Piece] {
        let docs = try Self.files(in: Self.package + "/docs", ending: ".md").map { "\(Self.package)/docs/\($0)" }
        return try (Self.documents() + docs).flatMap { path in
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                .filter { $0.contains(".package(") }
                .map { Piece(place: String(path.dropFirst(Self.package.count + 1)), code: String($0)) }
        }
    }

    /// The blocks of Swift and C of the README and the articles.
    ///
    /// A block that begins with `// Package.swift` is left out: it is a part of a manifest.
    static func blocks() throws -> [Piece] {
        try Self.documents().flatMap { path in
            try ["```swift", "```c"].flatMap { try Self.pieces(of: path, from: $0, to: "```") }
                .filter { !$0.code.hasPrefix("// Package.swift") }
        }
    }

    /// What stands between `// snippet` and `// end of snippet` in this folder, and in that of the tests' worker.
    static func snippets() throws -> [Piece] {
        let files = try [Self.folder, Self.package + "/Tests/breaker-worker"].flatMap { folder in
            try Self.files(in: folder, ending: "Snippets.swift").map { "\(folder)/\($0)" }
        }
        return try (files + [Self.package + "/Tests/CTestSupport/shim.h"]).flatMap { file in
            try Self.pieces(of: file, from: "// snippet", to: "// end of snippet")
        }
    }

    /// A document with the modules that its blocks import, and all its code.
    struct Sample: Sendable {
        var document: String
        var imports: Set<String>
        var code: String
    }

    /// What a reader has who copies the samples of one document.
    static func samples() throws -> [Sample] {
        try Self.documents().map { path in
            let lines = try Self.pieces(of: path, from: "```swift", to: "```", normalised: false)
                .flatMap { $0.code.split(separator: "\n") }
            let imports = lines.filter { $0.hasPrefix("import ") }.map { String($0.dropFirst("import ".count)) }
            return Sample(
                document: String(path.dropFirst(Self.package.count + 1)), imports: Set(imports),
                code: lines.joined(separator: "\n"))
        }
    }

    private static func pieces(
        of path: String, from first: String, to last: String, normalised: Bool = true
    ) throws -> [Piece] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var pieces: [Piece] = []
        var open: (line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = String(line.drop { $0 == " " })
            if let piece = open, trimmed == last {
                let place = "\(path.dropFirst(Self.package.count + 1)):\(piece.line)"
                let code = normalised ? Self.normalised(piece.lines) : piece.lines.joined(separator: "\n")
                pieces.append(Piece(place: place, code: code))
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
    static func normalised(_ lines: [String]) -> String {
        let lines = lines.drop { $0.hasPrefix("import ") || $0.hasPrefix("#") || $0.isEmpty }
        let margin = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(margin)) }.joined(separator: "\n")
    }

    private static func files(in folder: String, ending: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(ending) }.sorted()
    }

    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
    }
}
