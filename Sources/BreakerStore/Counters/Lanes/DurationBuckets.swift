/// The durations of calls, counted in buckets between 15 bounds: 1, 2, 5, 10 … 20,000, 50,000 ms.
struct DurationBuckets: Equatable, Sendable {
    /// One bucket for each bound, and one for calls that took longer than all bounds.
    static let buckets = 16
    /// The index of the first bucket in a cell: behind the two words of the key.
    private static let firstWord = 2
    /// The index of the number of measured calls that the file has.
    private static let savedWord = Self.firstWord + Self.buckets + 1
    static let words = Self.savedWord + 1

    /// How many calls took at most each bound, and longer than the bound before.
    let calls: [UInt64]
    /// The sum of all durations in microseconds.
    let sum: UInt64

    init(calls: [UInt64], sum: UInt64) {
        self.calls = calls
        self.sum = sum
    }

    /// The durations that a cell has now.
    init(_ cell: SharedWords) {
        self.calls = (0..<Self.buckets).map { cell[Self.firstWord + $0] }
        self.sum = cell[Self.firstWord + Self.buckets]
    }

    func subtracting(_ other: DurationBuckets) -> DurationBuckets {
        DurationBuckets(calls: zip(self.calls, other.calls).map { $0 &- $1 }, sum: self.sum &- other.sum)
    }

    /// How many calls were measured.
    var measured: UInt64 { self.calls.reduce(0, &+) }

    /// - Parameter index: a bucket, or `Self.buckets` for the word with the sum of the durations.
    static func add(_ count: UInt64, toWord index: Int, of cell: SharedWords) {
        cell.add(count, at: Self.firstWord + index)
    }

    /// Whether the file has these durations.
    func isSaved(in cell: SharedWords) -> Bool { self.measured == cell[Self.savedWord] }

    func setSaved(in cell: SharedWords) { cell[Self.savedWord] = self.measured }

    /// The bound of a bucket in microseconds; nil for the last bucket.
    static func bound(_ bucket: Int) -> Int64? {
        guard (0..<Self.buckets - 1).contains(bucket) else { return nil }
        var bound: Int64 = 1_000
        for index in 0..<bucket { bound = Self.next(after: bound, at: index) }
        return bound
    }

    /// The bucket of a duration in microseconds.
    static func bucket(of duration: Int64) -> Int {
        var bound: Int64 = 1_000
        for index in 0..<Self.buckets - 1 {
            if duration <= bound { return index }
            bound = Self.next(after: bound, at: index)
        }
        return Self.buckets - 1
    }

    /// The next of the bounds 1, 2, 5, 10 …: each is twice the one before, except for the step from 2 to 5.
    @inline(__always)
    private static func next(after bound: Int64, at index: Int) -> Int64 { index % 3 == 1 ? bound * 5 / 2 : bound * 2 }
}
