import Foundation

/// The package that these tests are of.
enum Package {
    /// Its folder, three above this file's own.
    static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The text of a file, by its path from the root.
    static func text(of path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }
}
