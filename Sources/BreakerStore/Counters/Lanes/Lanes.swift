import CBreakerStore

/// A striped counter, like Java's LongAdder: the lanes in which this process counts the calls through one circuit.
///
/// There is one lane until the circuit is busy, and then one more for each CPU, at most eight more: threads that add to
/// the same cache line wait for each other. No lane is freed while the circuit is in use, so that a call never adds to
/// memory that already belongs to another circuit.
struct Lanes: ~Copyable, Sendable {
    /// With more calls than this between two drains, the circuit gets lanes for the CPUs.
    ///
    /// Its threads may have waited for each other.
    static let busy: UInt64 = 10_000

    private static let maxLanes = Self.lanes(forCPUs: LaneArena.cpus)

    /// The word of the first lane that has the address and the number of the other lanes, if there are any.
    ///
    /// `bs_count` packs both into one word: lanes begin at multiples of 64 bytes, so the low bits of their address are
    /// free.
    private static let others = Int(bs_other_lanes)

    /// The number of the CPU that this thread runs on.
    static var cpu: UInt64 { bs_cpu() }

    /// The address of the first lane.
    ///
    /// Not a reference: each call would retain the object, and two threads that do so are slower than one thread.
    private let first: UInt

    init() { self.first = LaneArena.here.allocate(1) }

    deinit {
        if let (address, count) = self.more { LaneArena.here.free(address, count) }
        LaneArena.here.free(self.first, 1)
    }

    /// Counts one call.
    ///
    /// The only work is one addition to private memory: no lock, no clock, no system call, no allocation.
    @inline(__always)
    func add(_ word: LaneCounts.Word) { bs_count(UInt64(self.first), word.rawValue) }

    /// Returns the counts since the last drain and leaves zeros; makes more lanes if there were many calls.
    func drain() -> LaneCounts {
        var counts = LaneCounts()
        self.eachLane { counts.drain($0) }
        if counts.sum > Self.busy { self.widen() }
        return counts
    }

    /// Whether nothing was counted since the last drain.
    var isEmpty: Bool {
        var isEmpty = true
        self.eachLane { lane in if (0..<LaneCounts.words).contains(where: { lane[$0] != 0 }) { isEmpty = false } }
        return isEmpty
    }

    /// How many lanes calls are added to.
    var count: Int { self.more?.count ?? 1 }

    /// Makes the lanes for the CPUs, beside the first lane, to which a call may be adding now.
    func widen() {
        guard Self.maxLanes > 1, self.more == nil else { return }
        let address = LaneArena.here.allocate(Self.maxLanes)
        let word = UInt64(address | UInt(Self.maxLanes - 1))
        if !LaneArena.words(at: self.first).replace(0, with: word, at: Self.others) {
            LaneArena.here.free(address, Self.maxLanes)
        }
    }

    /// The lanes for the CPUs; nil while there is only the first lane.
    ///
    /// Nil also in a child of `fork`, whose lanes were wiped.
    private var more: (address: UInt, count: Int)? {
        let word = LaneArena.words(at: self.first)[Self.others]
        return word == 0 ? nil : Self.split(UInt(word))
    }

    /// Calls `body` with each lane, the first lane first.
    private func eachLane(_ body: (SharedWords) -> Void) {
        body(LaneArena.words(at: self.first))
        guard let (address, count) = self.more else { return }
        for lane in 0..<count { body(LaneArena.words(at: address + UInt(lane) * LaneArena.size)) }
    }

    private static func split(_ word: UInt) -> (address: UInt, count: Int) {
        let last = word & (LaneArena.size - 1)
        return (word - last, Int(last) + 1)
    }

    /// A power of two, because the number of a CPU is masked to its last bits.
    static func lanes(forCPUs cpus: Int) -> Int {
        var lanes = 1
        while lanes < min(cpus, 8) { lanes *= 2 }
        return lanes
    }
}
