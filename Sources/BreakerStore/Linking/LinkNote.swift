#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a file's link says of itself, for people: `<db>-link`, a file of one line.
///
/// Nobody decides anything by it. It lies outside the database, so that to tell of a lost server costs no commit.
package struct LinkNote: Sendable, Hashable {
    /// Whether the link reads and tells what all hosts know.
    package var isJoined: Bool
    package var since: Date
    /// What keeps the link from the others.
    package var reason: String

    package init(isJoined: Bool, since: Date, reason: String = "") {
        self.isJoined = isJoined
        self.since = since
        self.reason = reason
    }

    var line: String {
        "\(self.isJoined ? "joined" : "cutOff") \(Int64(self.since.timeIntervalSince1970)) \(self.reason.escaped.prefix(500))\n"
    }

    /// Nil for anything that no link has written: anybody who may write to the directory may have.
    init?(line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, line.hasSuffix("\n"), let seconds = Int64(words[1]),
            (0...Self.latest).contains(seconds), words[0] == "joined" || words[0] == "cutOff"
        else { return nil }
        self.init(
            isJoined: words[0] == "joined", since: Date(timeIntervalSince1970: Double(seconds)),
            reason: String(words[2].dropLast()).escaped)
    }

    /// The year 2300.
    private static let latest: Int64 = 10_413_792_000
}

/// How a file's circuits are joined with those of other hosts just now.
package enum LinkStanding: Sendable, Hashable {
    /// No process has the right to be the file's link.
    case none
    /// A link has begun, and has not said yet whether there is a way to the others.
    case begun
    case told(LinkNote)
}

extension CircuitStore {
    /// Says of this file's link what people are to know.
    package func note(_ note: LinkNote) {
        let file = self.backend.file
        note.write(at: file.link, likeDatabase: file.path)
    }

    /// What the file's link has said last, if one lives.
    package var linkStanding: LinkStanding {
        let file = self.backend.file
        guard LockFile.isLinkTaken(at: file.lock) else { return .none }
        return LinkNote.read(at: file.link).map { .told($0) } ?? .begun
    }
}
