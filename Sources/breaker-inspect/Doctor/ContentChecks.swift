import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The doctor's checks of the file's contents.
struct ContentChecks {
    let examination: StoreExamination

    private static let namesShown = 5

    static func schema(_ version: Int64) -> Finding {
        let word = "\(version / 1_000).\(version % 1_000)"
        guard word != Versions.schema else { return .ok("schema", word) }
        guard !Versions.isOlderMajor(schema: version) else {
            return .note(
                "schema", "\(word), this tool knows \(Versions.schema)",
                "the first service of this release that opens the file migrates it")
        }
        return .note("schema", "\(word), this tool knows \(Versions.schema); both can use it")
    }

    /// The creation of the file in place of a lost one; nil if there was none, or if an operator has acted since.
    ///
    /// - Parameter kept: the name under which a damaged file is kept beside the new one; nil if there is none.
    func creation(kept: String?) -> Finding? {
        guard let creation = self.examination.creation, let news = creation.news(at: self.examination.now) else {
            return nil
        }
        let age = max(.zero, self.examination.now.since(creation.at)).readable
        let restored = [(news.restoredHolds, "hold"), (news.restoredOpenStates, "open state")].filter { $0.0 > 0 }
        let counts = restored.map { $0.0.counted($0.1) }.joined(separator: " and ")
        let isOne = restored.reduce(0) { $0 + $1.0 } == 1
        // A damaged file may have been readable to workers through its log.
        let lacksStates = news.isDamaged && news.restoredOpenStates == 0
        let kept = news.isDamaged ? kept : nil
        // Of a damaged file, the text that a worker has recorded would name the path again.
        let what = news.isDamaged ? "in place of a damaged file" : news.what.escaped
        return .wrong(
            "store",
            "created \(age) ago (\(creation.at.readable)) \(what). "
                + (restored.isEmpty
                    ? "Live workers knew of no hold and no open state"
                    : "\(counts) \(isOne ? "was" : "were") restored by live workers")
                + (lacksStates ? "; open states and the history are gone" : "; the history is gone")
                + (kept.map { "; the old file is kept as \($0)" } ?? ""),
            "'\(Tool.name) list' shows the holds: set again what is missing"
                + (kept == nil ? "" : "; then delete the kept files")
                + "; any reset or hold, or a day, clears this finding")
    }

    /// - Parameter hasLog: whether the log beside the database has anything.
    func contents(hasLog: Bool) -> Finding {
        guard self.examination.damage.isEmpty else {
            return .damaged(self.examination.damage.map(\.escaped).joined(separator: "; "))
        }
        guard hasLog || !self.examination.lacksClock || self.examination.circuits > 0 else {
            return .wrong(
                "contents",
                "the log (-wal) is missing or empty, and the database has no clock and no circuits: holds and open states "
                    + "may be lost",
                "find out what removes files of the store, and set missing holds again; services repair the rest"
            )
        }
        guard !self.examination.isClockUnreadable else {
            return .wrong(
                "contents", "the clock's row is invalid: no release of this library writes such a row",
                "nothing to do: the next change by a service repairs it"
            )
        }
        guard self.examination.unreadable.isEmpty else {
            return .wrong(
                "contents",
                "invalid rows, which no release of this library writes: \(Self.list(self.examination.unreadable))",
                "the next call of its service or '\(Tool.name) reset NAME' replaces it, without its hold; "
                    + "'\(Tool.name) forget NAME' deletes it"
            )
        }
        guard self.examination.badRows.isEmpty else {
            return .wrong(
                "contents", self.examination.badRows.map(\.escaped).joined(separator: "; "),
                "nothing to do: services replace such a row if it prevents a change"
            )
        }
        guard self.examination.recreated.isEmpty else {
            return .note(
                "contents",
                "rows could not be read and were replaced, without the holds that were there: "
                    + Self.list(self.examination.recreated),
                "hold again what was held; '\(Tool.name) reset NAME' clears this note"
            )
        }
        guard self.examination.stampsAhead.isEmpty else {
            return .note(
                "contents",
                "times of \(Self.list(self.examination.stampsAhead)) are ahead of the store's clock",
                "they count as now, and the next call corrects them"
            )
        }
        return .ok("contents", "SQLite finds no damage; \(self.examination.circuits.counted("circuit")) can be read")
    }

    /// The rules that this release does not know completely; nil if it knows all.
    var rules: Finding? {
        func list(_ text: (RulesFinding) -> String?) -> String? {
            let texts = self.examination.rules.compactMap(text)
            return texts.isEmpty ? nil : Self.list(texts)
        }
        let unreadable = list { finding in
            if case .unreadable(let why) = finding.kind { "\(finding.circuit) (\(why))" } else { nil }
        }
        if let unreadable {
            return .wrong(
                "rules",
                "the stored rules can't be read: \(unreadable); state and hold stay, and each worker uses the rules that "
                    + "it has registered",
                "restart a service that uses such a circuit: its registration replaces the rules")
        }
        let later = list { finding in
            if case .ofLaterRelease(let why) = finding.kind { "\(finding.circuit) (\(why))" } else { nil }
        }
        if let later {
            return .note(
                "rules",
                "a later release has registered rules that release \(Versions.library) can't use: \(later); workers of "
                    + "release \(Versions.library) use the rules that they have registered themselves",
                "update the services of earlier releases")
        }
        let unknown = list { finding in
            guard case .unknownMembers(let names) = finding.kind else { return nil }
            return "\(finding.circuit) (\(names.joined(separator: ", ")))"
        }
        return unknown.map {
            .note("rules", "a later release has registered members that this one does not know, and keeps: \($0)")
        }
    }

    static var sqlite: Finding {
        let version = Versions.sqlite
        let parts = version.split(separator: ".").map { Int($0) ?? 0 }
        if parts.lexicographicallyPrecedes([3, 37]) {
            return .wrong("SQLite", "\(version) is too old", "install 3.37 or newer")
        }
        if parts.lexicographicallyPrecedes([3, 51, 3]) {
            return .note(
                "SQLite",
                "\(version) has the WAL-reset bug, which this library avoids",
                "let no other program write to the store, or use 3.51.3"
            )
        }
        return .ok("SQLite", version)
    }

    var clock: Finding {
        if !self.examination.isOfThisBoot {
            guard let worker = self.examination.living.first else {
                return .note("clock", "no service has used the store since this host was booted")
            }
            return .wrong(
                "clock", "another host or virtual machine has the store open: \(worker.title)",
                "a store serves one host; stop the services of one of the two"
            )
        }
        let ahead = self.examination.ahead
        let distance = ahead < .zero ? .zero - ahead : ahead
        guard distance > .seconds(60) else { return .ok("clock", "it agrees with the wall clock") }
        return .note(
            "clock",
            "store time is \(distance.readable) \(ahead < .zero ? "behind" : "ahead of") the wall clock, which was "
                + "stepped; nothing depends on it"
        )
    }

    var workers: [Finding] {
        let text = "\(self.examination.live.count) live"
        var findings = self.groups.filter { $0.cause == .outside }.map(self.outside)
        if !self.examination.dead.isEmpty {
            findings.append(
                .wrong(
                    "workers",
                    "\(text); ended without closing the store: \(self.examination.dead.namesWithPids)",
                    "see why they ended; the next service that opens the store removes them from the file"
                ))
        }
        return findings.isEmpty ? [.ok("workers", text)] : findings
    }

    private var groups: [LiveWorkers.Group] { self.examination.live.groups }

    private func outside(_ group: LiveWorkers.Group) -> Finding {
        let isOne = group.workers.count == 1
        let releases = group.releases.map { " (\($0))" } ?? ""
        return .wrong(
            "workers",
            "\(self.examination.live.share(group.workers.count)) \(isOne ? "runs" : "run") a release that cannot use this "
                + "file\(releases): \(group.names); \(isOne ? "it" : "each") guards its circuits in memory and obeys no "
                + "hold or reset",
            "restart \(isOne ? "it" : "them") with the new release")
    }

    /// Living workers that can't use the file: a finding for each reason, which names all of them.
    var degraded: [Finding] {
        self.groups.filter { $0.cause != .outside }.map { group in
            let isOne = group.workers.count == 1
            let words = ["\(isOne ? "does" : "do") not use the file"]
            let more = [group.age(at: self.examination.live.now), group.why.map { "because \($0)" }]
            let parts = words + more.compactMap(\.self)
            return .wrong(
                "degraded",
                "\(self.examination.live.share(group.workers.count)) \(parts.joined(separator: ", ")): \(group.names); "
                    + "\(isOne ? "it" : "each") guards its circuits in memory",
                "\(Self.advice(for: group.cause)); \(isOne ? "it recovers by itself" : "they recover by themselves")")
        }
    }

    private static func advice(for cause: LiveWorkers.Cause) -> String {
        switch cause {
        case .known(.busy): "stop what keeps the file locked: see 'writers'"
        case .known(.full): "make room on the file system"
        case .known(.permissionDenied):
            "give them back the rights to the files and the directory: see 'permissions' and 'file system'"
        case .known(.corrupt): "see 'contents', and the workers' logs"
        case .known(.foreignSchema): "see 'schema'"
        case .known(.olderSchema): "start a service whose migration is .automatic"
        case .known, .unknown, .outside: "see the workers' logs, which say why"
        }
    }

    var probes: Finding {
        let orphans = self.examination.probes.filter { $0.owner == nil }
        if !orphans.isEmpty {
            return .wrong(
                "probes", "workers ended during probes of \(Self.list(orphans.map { $0.circuit.escaped }))",
                "the next call takes the slot; 'reset' closes the circuit at once"
            )
        }
        let late = self.examination.probes.filter(\.isLeaseOver)
        if !late.isEmpty {
            let texts = late.map { "\($0.circuit.escaped) by \($0.owner?.title ?? "")" }
            return .note(
                "probes", "probes beyond their lease: \(Self.list(texts))", "their results will not count")
        }
        let count = self.examination.probes.count
        return .ok("probes", count == 1 ? "1 is under way" : "\(count) are under way")
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(Self.namesShown).map(\.escaped).joined(separator: ", ")
        return names.count > Self.namesShown ? "\(shown) and \(names.count - Self.namesShown) more" : shown
    }
}

extension WorkerSnapshot {
    fileprivate var title: String { "\(self.name.escaped)[\(self.pid)]" }
}

extension Finding {
    static func damaged(_ what: String) -> Finding {
        .wrong(
            "contents", what,
            "a service that reads the damage moves the file aside and starts a new one; restart a service if none "
                + "has done so"
        )
    }
}
