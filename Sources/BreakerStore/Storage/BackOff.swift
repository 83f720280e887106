/// How long the store's thread waits before it tries again to bring the file back.
///
/// A file that fails again at once after each return is not tried in a tight loop.
struct BackOff {
    private static let first = Duration.milliseconds(50)
    private static let longest = Duration.seconds(1)

    private var pause = Duration.zero
    private var next = Deadline(after: .zero)
    /// If the file has worked until then, the next failure is a new one.
    private var calm = Deadline(after: .zero)

    /// Whether it is time to try.
    var isOver: Bool { self.next.isOver }

    var remaining: Duration { self.next.remaining }

    /// Notes that it is tried now: the next time comes later, and later each time.
    mutating func begin() {
        self.pause = self.calm.isOver ? Self.first : min(self.pause * 2, Self.longest)
        self.next = Deadline(after: self.pause)
        self.calm = Deadline(after: self.pause + Self.longest * 2)
    }
}
