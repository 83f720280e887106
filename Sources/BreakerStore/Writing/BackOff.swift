/// How long the store's thread waits before it tries again to bring the file back.
///
/// A file that fails again soon after each return is not tried in a tight loop.
struct BackOff {
    typealias Instant = ContinuousClock.Instant

    private static let longest = Duration.seconds(1)

    private let first: Duration
    private var pause = Duration.zero
    /// When the next try may be made; nil: at once.
    private(set) var next: Instant?
    /// A try from this time on starts with the first pause again, because the last return has held.
    private var calm: Instant?

    /// - Parameter first: how long it waits after the first try that failed.
    init(first: Duration) { self.first = first }

    func isOver(at now: Instant) -> Bool { self.next.map { $0 <= now } ?? true }

    /// Notes a try at `now`: the pause doubles with each try, up to a second, and starts again after a calm time.
    mutating func begin(at now: Instant) {
        let isCalm = self.calm.map { $0 <= now } ?? true
        self.pause = isCalm ? self.first : min(self.pause * 2, Self.longest)
        self.next = now + self.pause
        self.calm = now + self.pause + Self.longest * 2
    }
}
