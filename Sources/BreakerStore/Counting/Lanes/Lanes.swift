import CBreakerStore

/// The lanes in which this process counts the calls through one circuit.
///
/// There is one lane until the circuit is busy, and then one more for each CPU, at most eight more: threads that add to
/// the same line of the cache wait for each other. No lane is given back while the circuit is in use, so that a call
/// never adds to memory that already belongs to another circuit.
struct Lanes: ~Copyable, Sendable {
    /// With more calls than this between two emptyings, the circuit gets lanes for the CPUs.
    ///
    /// Its threads may have waited for each other.
    static let busy: UInt64 = 10_000

    private static let mostLanes = Self.lanes(forCPUs: LaneArena.cpus)

    /// The word of the first lane that says where the other lanes are, if there are any: see `bs_count`.
    private static let others = Int(bs_other_lanes)

    /// The number of the CPU that this thread runs on.
    static var cpu: UInt64 { bs_cpu() }

    /// The address of the first lane.
    ///
    /// Not a reference: each call would retain the object, and two threads that do so are slower than one thread.
    private let first: UInt

    init() { self.first = LaneArena.here.take(1) }

    deinit {
        if let (address, count) = self.more { LaneArena.here.giveBack(address, count) }
        LaneArena.here.giveBack(self.first, 1)
    }

    /// Counts the end of a call.
    ///
    /// The only work is one addition to private memory: no lock, no clock, no system call, no allocation.
    @inline(__always)
    func add(_ word: LaneCounts.Word) { bs_count(UInt64(self.first), word.rawValue) }

    /// Takes the counts since the last time and leaves zeros; makes more lanes if there were many calls.
    func take() -> LaneCounts {
        var counts = LaneCounts()
        self.eachLane { counts.take(from: $0) }
        if counts.sum > Self.busy { self.widen() }
        return counts
    }

    /// Whether nothing was counted since the last time.
    var isEmpty: Bool {
        var isEmpty = true
        self.eachLane { lane in if (0..<LaneCounts.words).contains(where: { lane[$0] != 0 }) { isEmpty = false } }
        return isEmpty
    }

    /// To how many lanes calls are added.
    var count: Int { self.more?.count ?? 1 }

    /// Makes the lanes for the CPUs, beside the first lane, to which a call may be adding now.
    func widen() {
        guard Self.mostLanes > 1, self.more == nil else { return }
        let address = LaneArena.here.take(Self.mostLanes)
        let word = UInt64(address | UInt(Self.mostLanes - 1))
        if !LaneArena.words(at: self.first).replace(0, with: word, at: Self.others) {
            LaneArena.here.giveBack(address, Self.mostLanes)
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

    /// A power of two, because the number of a CPU is cut to its last bits.
    static func lanes(forCPUs cpus: Int) -> Int {
        var lanes = 1
        while lanes < min(cpus, 8) { lanes *= 2 }
        return lanes
    }
}
