#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The status that a link writes for people: `<db>-link`, a file of one line beside the database.
///
/// No program bases a decision on it. It is outside the database, so that a lost server costs no commit.
package struct LinkNote: Sendable, Hashable {
    /// Whether the link exchanges its circuits with the server.
    package var isJoined: Bool
    package var since: Date
    /// The process that the link runs in.
    package var pid: Int32
    /// Why the link can't reach the other hosts.
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

    /// Parses a line; nil if no link can have written it.
    ///
    /// Any process that may write to the directory may have.
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

    /// The end of the year 2299, in Unix time.
    private static let latest: Int64 = 10_413_792_000
}

/// Whether a link joins a file's circuits with those of other hosts now.
package enum LinkStanding: Sendable, Hashable {
    /// No link runs, and the last one, if any, ended normally.
    case none
    /// The last link was killed, and no other link has taken its place.
    case gone(LinkNote)
    /// A link runs, but has not reported yet whether it reaches the other hosts.
    case begun
    /// A link runs; its last report.
    case reported(LinkNote)

    init(at file: StoreFile) {
        let note = LinkNote.read(at: file.link)
        self =
            switch (LockFile.isLinkTaken(at: file.lock), note) {
            case (false, nil): .none
            case (false, let note?): .gone(note)
            case (true, nil): .begun
            case (true, let note?): .reported(note)
            }
    }
}
