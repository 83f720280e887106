/// How long the store's thread waits before it tries again to bring the file back.
///
/// A file that fails again at once after each return is not tried in a tight loop.
struct BackOff {
    private static let longest = Duration.seconds(1)

    private let first: Duration
    private var pause = Duration.zero
    private var next = Deadline(after: .zero)
    /// If the file has worked until then, the next failure is a new one.
    private var calm = Deadline(after: .zero)

    /// - Parameter first: how long it waits after the first try that failed.
    init(first: Duration) { self.first = first }

    /// Whether it is time to try.
    var isOver: Bool { self.next.isOver }

    var remaining: Duration { self.next.remaining }

    /// Notes that it is tried now: the next time comes later, and later each time.
    mutating func begin() {
        self.pause = self.calm.isOver ? self.first : min(self.pause * 2, Self.longest)
        self.next = Deadline(after: self.pause)
        self.calm = Deadline(after: self.pause + Self.longest * 2)
    }
}
