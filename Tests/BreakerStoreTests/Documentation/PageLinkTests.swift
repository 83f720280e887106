import FoundationEssentials
import Testing

/// The links of the pages lead to files and headings that exist: a claim stands on the test that it names.
@Suite struct PageLinkTests {
    private static let package = folder(of: folder(of: folder(of: folder(of: #filePath))))

    @Test func eachFileAndHeadingExists() throws {
        let docs = try FileManager.default.contentsOfDirectory(atPath: Self.package + "/docs")
            .filter { $0.hasSuffix(".md") }
        #expect(docs.contains("correctness.md"))
        for page in ["CONTRIBUTING.md", "README.md", "SECURITY.md"] + docs.map({ "docs/\($0)" }) {
            let path = "\(Self.package)/\(page)"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            // Links to other places have a colon.
            for link in text.matches(of: #/\]\(([^)#:]*)(?:#([^)]*))?\)/#) {
                let target = link.1.isEmpty ? path : "\(Self.folder(of: path))/\(link.1)"
                guard FileManager.default.fileExists(atPath: target) else {
                    Issue.record("\(page): there is no \(link.1)")
                    continue
                }
                guard let heading = link.2 else { continue }
                #expect(try Self.headings(of: target).contains(String(heading)), "\(page): \(link.1) has no \(heading)")
            }
        }
    }

    /// The headings of a page as links spell them.
    private static func headings(of page: String) throws -> [String] {
        try String(contentsOfFile: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("#") }.map {
            let words = $0.drop { $0 == "#" }.dropFirst().lowercased()
            return words.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
        }
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }
}
