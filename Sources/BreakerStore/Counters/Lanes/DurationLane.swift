import Synchronization

/// The durations of this process's calls through one circuit, in private memory until they are published.
///
/// No memory is allocated until durations are measured. The address stands for the memory, as in `Lanes`: a call finds
/// it without a lock and without a reference.
struct DurationLane: ~Copyable, Sendable {
    /// Room for 17 words, the buckets and the sum, in lanes of eight words.
    private static let lanes = 3

    /// Zero until durations are measured; never changed after that.
    private let address = Atomic<UInt>(0)

    private var words: SharedWords? {
        let address = self.address.load(ordering: .acquiring)
        return address == 0 ? nil : LaneArena.words(at: address)
    }

    deinit {
        let address = self.address.load(ordering: .relaxed)
        if address != 0 { LaneArena.here.free(address, Self.lanes) }
    }

    /// Whether durations are measured.
    var isOpen: Bool { self.address.load(ordering: .relaxed) != 0 }

    /// Allocates the memory if there is none; returns whether this call did.
    func open() -> Bool {
        guard !self.isOpen else { return false }
        let new = LaneArena.here.allocate(Self.lanes)
        if self.address.compareExchange(expected: 0, desired: new, ordering: .acquiringAndReleasing).exchanged {
            return true
        }
        LaneArena.here.free(new, Self.lanes)
        return false
    }

    /// - Parameter duration: in microseconds.
    func add(_ duration: Int64) {
        guard let words = self.words else { return }
        words.addRelaxed(UInt64(max(0, duration)), at: DurationBuckets.buckets)
        words.addRelaxed(1, at: DurationBuckets.bucket(of: duration))
    }

    /// Whether nothing was counted since the durations were last published.
    var isEmpty: Bool {
        self.words.map { words in (0...DurationBuckets.buckets).allSatisfy { words[$0] == 0 } } ?? true
    }

    /// Drops the counts: leaves zeros.
    func drain() {
        guard let words = self.words else { return }
        for index in 0...DurationBuckets.buckets { _ = words.drain(index) }
    }

    /// Moves the counts to a cell: adds them there, and leaves zeros here.
    func publish(to cell: SharedWords) {
        guard let words = self.words else { return }
        // The sum is drained last and added first, so that the cell seldom has a call without its duration: the words
        // have relaxed order, so the duration may come with the next publication. A worker that saves the cell in
        // between sees by the number of calls that there is more to save.
        let counts = (0...DurationBuckets.buckets).map { words.drain($0) }
        for index in counts.indices.reversed() where counts[index] > 0 {
            DurationBuckets.add(counts[index], toWord: index, of: cell)
        }
    }
}
