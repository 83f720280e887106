import BreakerStore

/// What was in the file after each commit of a run, and what of it was acknowledged when.
///
/// A file that lost its power must be as it was after one of the commits: none is half there, none is there without
/// those before it. And none is missing that was acknowledged before the power went, and had to survive that.
struct PowerReferences {
    private struct Commit {
        /// The record that completed it.
        let number: Int
        let dump: String?
        /// The events that it wrote, which must survive once they are acknowledged, by the process that wrote them.
        var lasting: Set<Int32> = []
    }

    struct Acknowledged {
        let number: Int
        let call: String
        /// The place of the commit that must be there.
        let commit: Int
    }

    private var commits: [Commit] = []
    private var places: [String: [Int]] = [:]
    private(set) var acknowledged: [Acknowledged] = []

    /// What survives a power loss where it does not say otherwise (`Durability.transitions`).
    private static let lasting: Set<String> = [
        "tripped", "reopened", "closed", "reset", "held", "released", "forgotten",
    ]
    /// What one process commits for itself, when it comes to that.
    private static let unasked: Set<String> = ["degraded", "restored", "quarantined", "configured", "created"]

    /// - Parameters:
    ///   - disk: the files before the run.
    ///   - look: what SQLite finds in files.
    init(
        _ records: [PowerRecord],
        on disk: PowerDisk,
        _ durability: Durability,
        _ look: ([String: [UInt8]]) throws -> PowerLook
    ) rethrows {
        var disk = disk
        var log = PowerLog(disk.file(named: "a.db-wal"))
        var events: Set<String> = []
        func take(_ number: Int, _ references: inout Self) throws {
            let found = try look(disk.current)
            var commit = Commit(number: number, dump: found.dump)
            for event in found.events + found.failures where events.insert(event).inserted {
                let words = event.split(separator: "|")
                let isLasting =
                    switch durability {
                    case .transitions: Self.lasting.contains(String(words[1]))
                    case .everyCommit: !Self.unasked.contains(String(words[1]))
                    case .processCrash: false
                    }
                if isLasting, let process = Int32(words[2]) { commit.lasting.insert(process) }
            }
            if let dump = found.dump { references.places[dump, default: []].append(references.commits.count) }
            references.commits.append(commit)
        }
        try take(-1, &self)
        self.commits[0].lasting = []
        // The call that each process makes, and when it began.
        var calls: [Int32: (began: Int, call: String)] = [:]
        for (number, record) in records.enumerated() {
            disk.apply(record, number: number)
            if case .mark(let text) = record.change {
                let words = text.split(separator: " ", maxSplits: 2)
                if words.first == "began" { calls[record.process] = (number, words.count > 2 ? String(words[2]) : "") }
                if words.first == "done", words.last == "1", let call = calls[record.process] {
                    self.acknowledge(record.process, call, number)
                }
            } else if log.completesCommit(record) {
                try take(number, &self)
            }
        }
    }

    private mutating func acknowledge(_ process: Int32, _ call: (began: Int, call: String), _ number: Int) {
        for place in self.commits.indices.reversed() {
            guard self.commits[place].number > call.began else { return }
            guard self.commits[place].lasting.contains(process) else { continue }
            self.acknowledged.append(Acknowledged(number: number, call: call.call, commit: place))
            return
        }
    }

    var commitCount: Int { self.commits.count - 1 }

    /// What is wrong with a file after a cut behind so many records; nil if it is as it must be.
    ///
    /// - Parameter last: so many records there were at most when the power went.
    func fault(of look: PowerLook, after number: Int, atMost last: Int) -> String? {
        guard let dump = look.dump else { return "it can't be read" }
        let written = self.commits.prefix { $0.number < last }.count
        let needed = self.acknowledged.prefix { $0.number < number }.max { $0.commit < $1.commit }
        let found = (self.places[dump] ?? []).filter { $0 < written }
        guard let last = found.max() else { return "it is as after no commit: a change is half there" }
        guard let needed, last < needed.commit else { return nil }
        return
            "'\(needed.call)' was acknowledged and is lost: commit \(needed.commit), it is as after \(last) of \(written)"
    }

    /// Whether anything was acknowledged by then.
    func hasAcknowledged(before number: Int) -> Bool { self.acknowledged.first.map { $0.number < number } ?? false }
}

/// Knows a commit by what is written to the log (https://sqlite.org/fileformat2.html#wal_file_format).
struct PowerLog {
    private static let header = 32
    private static let frameHeader = 24

    private var file: Int64?
    /// Where the page of a commit's last frame is written.
    private var page: Int?

    init(_ file: Int64?) { self.file = file }

    /// Whether with this record a commit is in the file, or what the names lead to is another.
    mutating func completesCommit(_ record: PowerRecord) -> Bool {
        switch record.change {
        case .create(let file, let name):
            if name.hasSuffix("-wal") { self.file = file }
            return true
        // A journal that is removed ends a transaction.
        case .rename, .unlink: return true
        case .resize: return false
        case .write(let file, let offset, let bytes):
            guard file == self.file else { return false }
            if bytes.count == Self.frameHeader, offset >= Self.header {
                // "For commit records, the size of the database file in pages after the commit."
                self.page = bytes[4..<8].contains { $0 != 0 } ? offset + Self.frameHeader : nil
                return false
            }
            defer { if offset == self.page { self.page = nil } }
            return offset == self.page
        case .mark, .syncBegin, .syncEnd: return false
        }
    }
}
