import BreakerStore

/// How many live workers run each release.
struct ReleaseCounts: Hashable {
    /// How many releases get a series of their own: any program may write any text into the file.
    private static let maxVersions = 10
    private static let maxVersionLength = 32
    /// The version of workers without one: the file does not have it, or has no row of the worker.
    private static let unknown = "unknown"
    private static let other = "other"

    struct Count: Hashable {
        var version: String
        var count: Int
    }

    /// The releases, those with the most workers first, then all others as one.
    let counts: [Count]

    /// - Parameters:
    ///   - workers: the rows of the live workers.
    ///   - live: how many workers live, those without a row included.
    init(_ workers: [WorkerSnapshot], ofLive live: Int) {
        var counts: [Count] = []
        var others = 0
        func add(_ count: Int, _ version: String) {
            if version.utf8.count > Self.maxVersionLength || version == Self.other {
                others += count
            } else if let place = counts.firstIndex(where: { $0.version.utf8.elementsEqual(version.utf8) }) {
                counts[place].count += count
            } else if count > 0 {
                counts.append(Count(version: version, count: count))
            }
        }
        for worker in workers { add(1, worker.version ?? Self.unknown) }
        add(max(0, live - workers.count), Self.unknown)
        counts.sort { ($1.count, $0.version) < ($0.count, $1.version) }
        others += counts.dropFirst(Self.maxVersions).reduce(0) { $0 + $1.count }
        counts = Array(counts.prefix(Self.maxVersions))
        if others > 0 { counts.append(Count(version: Self.other, count: others)) }
        self.counts = counts
    }
}
