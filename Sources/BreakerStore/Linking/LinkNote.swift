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
    /// The process that the link runs in.
    package var pid: Int32
    /// What keeps the link from the others.
    package var reason: String

    package init(isJoined: Bool, since: Date, pid: Int32, reason: String = "") {
        self.isJoined = isJoined
        self.since = since
        self.pid = pid
        self.reason = reason
    }

    var line: String {
        let words = [
            self.isJoined ? "joined" : "cutOff", "\(Int64(self.since.timeIntervalSince1970))", "\(self.pid)",
            String(self.reason.escaped.prefix(500)),
        ]
        return words.joined(separator: " ") + "\n"
    }

    /// Nil for anything that no link has written: anybody who may write to the directory may have.
    init?(line: String) {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, line.hasSuffix("\n"), let seconds = Int64(words[1]),
            (0...Self.latest).contains(seconds), let pid = Int32(words[2]), pid > 0,
            words[0] == "joined" || words[0] == "cutOff"
        else { return nil }
        self.init(
            isJoined: words[0] == "joined", since: Date(timeIntervalSince1970: Double(seconds)), pid: pid,
            reason: String(words[3].dropLast()).escaped)
    }

    /// The year 2300.
    private static let latest: Int64 = 10_413_792_000
}

/// How a file's circuits are joined with those of other hosts just now.
package enum LinkStanding: Sendable, Hashable {
    /// No link is there, nor was one that did not end in order.
    case none
    /// A link was there, and was killed; no other one has taken its place.
    case gone(LinkNote)
    /// A link has begun, and has not said yet whether there is a way to the others.
    case begun
    /// What the link has said last.
    case told(LinkNote)

    init(at file: StoreFile) {
        let note = LinkNote.read(at: file.link)
        self =
            switch (LockFile.isLinkTaken(at: file.lock), note) {
            case (false, nil): .none
            case (false, let note?): .gone(note)
            case (true, nil): .begun
            case (true, let note?): .told(note)
            }
    }
}
