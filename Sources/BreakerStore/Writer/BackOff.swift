/// Exponential back-off: when the store's thread may try again to bring the file back.
///
/// The pause starts small again only after a calm time. So a file that fails soon after each return is not tried in a
/// tight loop.
struct BackOff {
    typealias Instant = ContinuousClock.Instant

    private static let maxPause = Duration.seconds(1)

    private let first: Duration
    private var pause = Duration.zero
    /// When the next try may be made; nil: at once.
    private(set) var next: Instant?
    /// A try from this time on starts with the first pause again, because the file stayed usable that long.
    private var resetsAt: Instant?

    /// - Parameter first: how long it waits after the first try that failed.
    init(first: Duration) { self.first = first }

    /// Whether the next try may be made.
    func isOver(at now: Instant) -> Bool { self.next.map { $0 <= now } ?? true }

    /// Records a try at `now`: doubles the pause, up to `maxPause`, or starts it again after a calm time.
    mutating func recordTry(at now: Instant) {
        let isCalm = self.resetsAt.map { $0 <= now } ?? true
        self.pause = isCalm ? self.first : min(self.pause * 2, Self.maxPause)
        self.next = now + self.pause
        self.resetsAt = now + self.pause + Self.maxPause * 2
    }
}
