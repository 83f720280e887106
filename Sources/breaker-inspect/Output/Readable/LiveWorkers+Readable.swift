import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LiveWorkers {
    /// The cause for which workers can't use the file.
    enum Cause: Hashable {
        /// They run a release that can't use the file.
        case outside
        case known(BreakerStoreError.Code)
        case unknown

        fileprivate init(_ worker: Degraded) {
            self = worker.isOutside ? .outside : worker.reason.map(Cause.known) ?? .unknown
        }
    }

    /// Live workers that can't use the file, for one cause.
    struct Group {
        let cause: Cause
        fileprivate(set) var workers: [Degraded]

        /// The cause as a clause after "because", where "it" is the file; nil if it is unknown.
        var why: String? {
            switch self.cause {
            case .outside: "their release can't\(self.releases.map { " (\($0))" } ?? "")"
            case .known(.busy): "others keep it locked"
            case .known(.full): "the disk is full"
            case .known(.permissionDenied): "they may not read or write it"
            case .known(.corrupt): "it, or a row of it, can't be read"
            case .known(.foreignSchema): "its tables were not as the library makes them"
            case .known(let reason): reason.description
            case .unknown: nil
            }
        }

        /// The releases that they run, as far as they are known.
        var releases: String? {
            var releases: [String] = []
            for release in self.workers.compactMap({ $0.worker?.version?.escaped }) where !releases.contains(release) {
                releases.append(release)
            }
            return releases.isEmpty ? nil : releases.sorted().joined(separator: ", ")
        }

        /// How long the first of them has not used the file, such as `for 4 s`; nil if that is unknown.
        func age(at now: Date) -> String? {
            self.workers.compactMap(\.since).min().map { "for \(max(.zero, now.since($0)).brief())" }
        }
    }

    /// The workers that can't use the file, by cause; first those whose release can't use it.
    var groups: [Group] {
        var groups: [Group] = []
        for worker in self.outside + self.degraded.filter({ !$0.isOutside }) {
            let cause = Cause(worker)
            if let place = groups.firstIndex(where: { $0.cause == cause }) {
                groups[place].workers.append(worker)
            } else {
                groups.append(Group(cause: cause, workers: [worker]))
            }
        }
        return groups
    }

    /// A warning that some workers don't obey the file, and why; nil while all workers use it.
    var notice: String? {
        guard !self.degraded.isEmpty else { return nil }
        let causes = self.groups.compactMap { group in
            let words = [group.why, group.cause == .outside ? nil : group.age(at: self.now)].compactMap(\.self)
            return words.isEmpty ? nil : words.joined(separator: ", ")
        }
        let why = causes.isEmpty ? "" : " (\(causes.joined(separator: "; ")))"
        let isOne = self.degraded.count == 1
        let obeys = self.outside.count == self.degraded.count ? ", obeys no hold or reset" : ""
        return "\(self.share(self.degraded.count)) \(isOne ? "does" : "do") not use the file\(why): "
            + "\(isOne ? "it" : "each") guards its circuits in memory\(obeys), and may refuse calls that are let through "
            + "here. See '\(Tool.name) doctor'."
    }

    /// The number of workers, such as `3 of 4 workers`.
    func share(_ count: Int) -> String { "\(count) of \(self.count.counted("worker"))" }

    /// The workers that can't use the file, for JSON.
    var seen: SeenDegraded? {
        guard !self.degraded.isEmpty else { return nil }
        var reasons: [String] = []
        for worker in self.degraded {
            let reason = worker.isOutside ? .newerSchema : worker.reason
            if let word = reason?.description, !reasons.contains(word) { reasons.append(word) }
        }
        return SeenDegraded(
            self.degraded.count, ofLive: self.count, outside: self.outside.count, reasons: reasons,
            since: self.degraded.compactMap(\.since).min())
    }
}

extension LiveWorkers.Group {
    /// The workers' names, such as `shop-worker[15682 15683] and 1 without a name`.
    var names: String {
        let known = self.workers.compactMap(\.worker)
        let unknown = self.workers.count - known.count
        let more = unknown > 0 ? "\(unknown) without a row in the file" : ""
        return [known.namesWithPids, more].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension [WorkerSnapshot] {
    private static var pidsShown: Int { 20 }

    /// Each name once, such as `shop-worker[15682 15683]`.
    var namesWithPids: String {
        // A list, because a dictionary takes memory: see `Environment`.
        var byName: [(name: String, pids: [Int32])] = []
        for worker in self.prefix(Self.pidsShown) {
            if let place = byName.firstIndex(where: { $0.name.utf8.elementsEqual(worker.name.utf8) }) {
                byName[place].pids.append(worker.pid)
            } else {
                byName.append((worker.name, [worker.pid]))
            }
        }
        var texts = byName.map { "\($0.name.escaped)[\($0.pids.sorted().map(String.init).joined(separator: " "))]" }
        if self.count > Self.pidsShown { texts.append("\(self.count - Self.pidsShown) more") }
        return texts.joined(separator: ", ")
    }
}
