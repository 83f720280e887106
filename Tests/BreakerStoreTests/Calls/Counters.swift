import Synchronization

/// Counts what tasks do.
final class CircuitCounters: Sendable {
    private let value = Atomic(0)

    var count: Int { self.value.load(ordering: .acquiring) }

    func add() { self.value.add(1, ordering: .acquiringAndReleasing) }
}
