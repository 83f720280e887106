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
        return .note("schema", "\(word), this tool knows \(Versions.schema); both can use it")
    }

    /// Nil unless the file was created in place of a lost one, and no operator has acted since.
    var creation: Finding? {
        guard let creation = self.examination.creation, let news = creation.news(at: self.examination.now) else {
            return nil
        }
        let age = max(.zero, self.examination.now.since(creation.at)).readable
        let restored = [(news.restoredHolds, "hold"), (news.restoredOpenStates, "open state")].filter { $0.0 > 0 }
        let counts = restored.map { $0.0.counted($0.1) }.joined(separator: " and ")
        let isOne = restored.reduce(0) { $0 + $1.0 } == 1
        return .wrong(
            "store",
            "created \(age) ago (\(creation.at.readable)) \(news.what.escaped). "
                + (restored.isEmpty
                    ? "Live workers knew of no hold and no open state"
                    : "\(counts) \(isOne ? "was" : "were") restored by live workers")
                + (news.isDamaged ? "; open states and the history are gone" : "; the history is gone"),
            "look at the circuits, and hold again what no live worker knew"
                + (news.isDamaged ? "; then delete the kept files" : "")
                + "; a reset or a hold ends this finding, and so does a day")
    }

    var contents: Finding {
        guard self.examination.damage.isEmpty else {
            return .damaged(self.examination.damage.map(\.escaped).joined(separator: "; "))
        }
        guard !self.examination.isClockUnreadable else {
            return .wrong(
                "contents", "no program of this library can have written the clock's row",
                "the next change that a service makes writes it anew, from the history and the wall clock"
            )
        }
        guard self.examination.unreadable.isEmpty else {
            return .wrong(
                "contents",
                "no program of this library can have written the rows of \(Self.list(self.examination.unreadable))",
                "the next call of a service that uses one writes it anew, and so does '\(Tool.name) reset NAME'; "
                    + "'\(Tool.name) forget NAME' deletes it"
            )
        }
        guard self.examination.badRows.isEmpty else {
            return .wrong(
                "contents", self.examination.badRows.map(\.escaped).joined(separator: "; "),
                "services make such rows anew as soon as one is in the way of a change"
            )
        }
        guard self.examination.madeAnew.isEmpty else {
            return .note(
                "contents",
                "rows could not be read and were made anew, without a hold that was there: "
                    + Self.list(self.examination.madeAnew),
                "hold what was held; '\(Tool.name) reset NAME' ends this note"
            )
        }
        guard self.examination.stampsAhead.isEmpty else {
            return .note(
                "contents",
                "stamps of \(Self.list(self.examination.stampsAhead)) lie ahead of the store's clock",
                "they count as now, and are set right by the next call"
            )
        }
        return .ok("contents", "SQLite finds no damage; \(self.examination.circuits.counted("circuit")) can be read")
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
                "\(version) has the WAL-reset bug: a commit during a checkpoint can damage the file",
                "services of this library checkpoint under the write lock and avoid it; let no other program write "
                    + "to the store, or update SQLite to 3.51.3 or newer"
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

    var workers: Finding {
        let living = self.examination.living.count
        let text = living == 1 ? "1 lives" : "\(living) live"
        guard !self.examination.dead.isEmpty else { return .ok("workers", text) }
        return .wrong(
            "workers", "\(text); ended without closing the store: \(Self.list(self.examination.dead.map(\.title)))",
            "see why they ended; the next service that opens the store clears them away"
        )
    }

    /// Living workers that can't use the file: a finding for each reason, which names all of them.
    var degraded: [Finding] {
        Dictionary(grouping: self.examination.degraded) { Self.words(for: $0.reason) }
            .sorted { $0.key.why < $1.key.why }
            .map { words, workers in
                let names = workers.map { "\($0.worker.title) since \($0.since.readable)" }.joined(separator: ", ")
                return .wrong(
                    "degraded", "\(words.why): \(names); each of them guards its circuits by itself, in memory",
                    "\(words.advice); the workers come back by themselves")
            }
    }

    private struct Words: Hashable {
        var why: String
        var advice: String
    }

    private static func words(for reason: BreakerStoreError.Code?) -> Words {
        switch reason {
        case .busy?:
            Words(why: "others kept the file locked", advice: "end what keeps the file locked: see 'writers'")
        case .full?: Words(why: "the file system is full", advice: "make room on the file system")
        case .permissionDenied?:
            Words(
                why: "workers may not read or write the file",
                advice: "give them back the rights to the files and the directory: see 'permissions'")
        case .corrupt?:
            Words(why: "the file, or a row of it, can't be read", advice: "see 'contents', and the workers' logs")
        case .foreignSchema?:
            Words(why: "the file's tables were not as the library makes them", advice: "see 'schema'")
        case .olderSchema?:
            Words(
                why: "workers may not migrate the file, which has an older schema",
                advice: "open it once with a service whose migration is .automatic")
        case let reason?:
            Words(why: "workers can't use the file (\(reason))", advice: "see the workers' logs, which tell more")
        case nil: Words(why: "workers can't use the file", advice: "see the workers' logs, which tell why")
        }
    }

    var probes: Finding {
        let orphans = self.examination.probes.filter { $0.owner == nil }
        if !orphans.isEmpty {
            return .wrong(
                "probes", "their workers are gone: probes of \(Self.list(orphans.map { $0.circuit.escaped }))",
                "the next call takes the slot; 'reset' closes the circuit at once"
            )
        }
        let late = self.examination.probes.filter(\.isLeaseOver)
        if !late.isEmpty {
            let texts = late.map { "\($0.circuit.escaped) by \($0.owner?.title ?? "")" }
            return .note("probes", "longer than their lease: \(Self.list(texts))", "their results will not count")
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
            "a service that meets the damage sets the file aside with all its bytes and begins anew; restart one if none "
                + "has done so"
        )
    }
}
