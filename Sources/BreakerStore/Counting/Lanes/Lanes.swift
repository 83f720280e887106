import CBreakerStore

/// Where the calls of this process through one circuit are counted, in memory of its own.
///
/// There is one lane until the circuit is busy, then one more for each CPU, eight of these at most: threads that add to
/// one line of memory wait for each other. A lane is never given back while the circuit is in use, so that a call never
/// adds to memory that is another circuit's by then.
struct Lanes: ~Copyable, Sendable {
    /// If there were more calls than this since the lane was last emptied, threads may have waited for each other.
    static let busy: UInt64 = 10_000

    private static let mostLanes = Self.lanes(forCPUs: LaneArena.cpus)

    /// The word of the first lane that says where the others are, if there are several: see `bs_count`.
    private static let others = Int(bs_other_lanes)

    /// The number of the CPU that this thread runs on.
    static var cpu: UInt64 { bs_cpu() }

    /// The address of the first lane.
    ///
    /// Not a reference: a call that counts would have to retain the object, and two threads that do so are slower than
    /// one.
    private let first: UInt

    init() { self.first = LaneArena.here.take(1) }

    deinit {
        if let (address, count) = self.more { LaneArena.here.giveBack(address, count) }
        LaneArena.here.giveBack(self.first, 1)
    }

    /// Counts the end of a call.
    ///
    /// That is one addition to private memory: no lock, no clock, no system call, no allocation.
    @inline(__always)
    func add(_ word: LaneCounts.Word) { bs_count(UInt64(self.first), word.rawValue) }

    /// Counts the end of a call that was let through under this epoch, unless that was a former circuit's of the name.
    @inline(__always)
    func add(_ word: LaneCounts.Word, epoch: Int64) { bs_count_since(UInt64(self.first), word.rawValue, epoch) }

    /// Calls of earlier epochs were another circuit's, which somebody has forgotten.
    func begin(with epoch: Int64) { LaneArena.words(at: self.first)[Int(bs_first_epoch)] = UInt64(bitPattern: epoch) }

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

    /// How many lanes are added to.
    var count: Int { self.more?.count ?? 1 }

    /// Makes as many lanes as there are CPUs beside the first one, to which a call may be adding just now.
    func widen() {
        guard Self.mostLanes > 1, self.more == nil else { return }
        let address = LaneArena.here.take(Self.mostLanes)
        let word = UInt64(address | UInt(Self.mostLanes - 1))
        if !LaneArena.words(at: self.first).replace(0, with: word, at: Self.others) {
            LaneArena.here.giveBack(address, Self.mostLanes)
        }
    }

    /// The lanes for the CPUs; nil as long as there is one lane for all, and in a child of `fork`, which finds zeros.
    private var more: (address: UInt, count: Int)? {
        let word = LaneArena.words(at: self.first)[Self.others]
        return word == 0 ? nil : Self.split(UInt(word))
    }

    /// Hands over each lane, the first one first.
    private func eachLane(_ body: (SharedWords) -> Void) {
        body(LaneArena.words(at: self.first))
        guard let (address, count) = self.more else { return }
        for lane in 0..<count { body(LaneArena.words(at: address + UInt(lane) * LaneArena.size)) }
    }

    private static func split(_ word: UInt) -> (address: UInt, count: Int) {
        let last = word & (LaneArena.size - 1)
        return (word - last, Int(last) + 1)
    }

    /// A power of two: the number of a CPU is cut to its last bits.
    static func lanes(forCPUs cpus: Int) -> Int {
        var lanes = 1
        while lanes < min(cpus, 8) { lanes *= 2 }
        return lanes
    }
}
