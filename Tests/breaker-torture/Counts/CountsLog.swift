import BreakerTestSupport

/// What the processes of the scene `kills` know of their own calls, in memory that outlives each of them.
///
/// Each process has a number, which the process that comes in its place takes over.
final class CountsLog: Sendable {
    /// Of one process and one circuit: begun before a call, acknowledged once it has returned.
    enum Word: Int {
        case goodBegun, good, failedBegun, failed, slowBegun, slow, slowFailedBegun, slowFailed
        case ignoredBegun, ignored, refusedBegun, refused
        /// Calls that took long without having been meant to: the machine was busy.
        case perhapsSlow
    }

    /// What a process had acknowledged at an uptime, of those ends that a kill may lose.
    struct Sample {
        var uptime: Int64
        /// For each circuit, what it may lose of `losable`.
        var counts: [Int64]
    }

    static let processes = 8
    /// One circuit of each process's own, then those of all.
    static let circuits = ["own", "common", "slow", "held"]
    /// Which circuit loses what: the words are counted in lanes.
    static let losable: [(circuit: Int, word: Word)] = [
        (0, .good), (1, .good), (2, .good), (0, .ignored), (1, .ignored), (2, .ignored), (3, .refused),
    ]

    private static let (head, samples, sampleWords) = (64, 512, 8)
    private static let region = 128 + CountsLog.samples * CountsLog.sampleWords
    private let numbers: SharedNumbers

    init(_ directory: String) throws {
        self.numbers = try SharedNumbers(
            path: directory + "/counts-log", count: Self.head + Self.processes * Self.region)
    }

    /// Set when the processes are to end by themselves.
    var isOver: Bool {
        get { self.numbers[0] != 0 }
        set { self.numbers[0] = newValue ? 1 : 0 }
    }

    /// The name of a process's circuit.
    static func name(_ circuit: Int, of process: Int) -> String {
        circuit == 0 ? "own-\(process)" : Self.circuits[circuit]
    }

    private func place(_ process: Int) -> Int { Self.head + process * Self.region }

    func add(_ count: Int = 1, _ word: Word, _ circuit: Int, of process: Int) {
        self.numbers.add(Int64(count), at: self.place(process) + circuit * 16 + word.rawValue)
    }

    func count(_ word: Word, _ circuit: Int, of process: Int) -> Int64 {
        self.numbers[self.place(process) + circuit * 16 + word.rawValue]
    }

    /// Of all processes.
    func sum(_ word: Word, _ circuit: Int) -> Int64 {
        (0..<Self.processes).reduce(0) { $0 + self.count(word, circuit, of: $1) }
    }

    // MARK: - Samples

    private var nextSample: Int { 127 }

    /// What a process has acknowledged by now.
    func losable(of process: Int) -> [Int64] { Self.losable.map { self.count($0.word, $0.circuit, of: process) } }

    /// Notes what the process has acknowledged.
    func sample(at uptime: Int64, of process: Int) {
        let start = self.place(process)
        let number = self.numbers[start + self.nextSample]
        let place = start + 128 + Int(number) % Self.samples * Self.sampleWords
        self.numbers[place] = 0
        for (index, count) in self.losable(of: process).enumerated() { self.numbers[place + 1 + index] = count }
        self.numbers[place] = uptime
        self.numbers[start + self.nextSample] = number + 1
    }

    /// The samples of a process that is dead, the oldest first.
    func samples(of process: Int) -> [Sample] {
        let start = self.place(process) + 128
        return (0..<Self.samples).compactMap { index -> Sample? in
            let place = start + index * Self.sampleWords
            let uptime = self.numbers[place]
            guard uptime > 0 else { return nil }
            return Sample(uptime: uptime, counts: Self.losable.indices.map { self.numbers[place + 1 + $0] })
        }.sorted { $0.uptime < $1.uptime }
    }
}
