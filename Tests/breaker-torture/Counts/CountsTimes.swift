import BreakerTestSupport

/// When the calls of one process ended, in memory that the judge sees.
final class CountsTimes: Sendable {
    enum Kind: Int64 {
        case good = 1
        case failed, publish
    }

    /// A call: it was about to begin, its operation ended, and the caller had its result; or a publish.
    struct Record {
        var kind: Kind
        var begun: Int64
        var ended: Int64
        var returned: Int64
    }

    private static let records = 1 << 16
    private static let header = 8

    private let numbers: SharedNumbers
    /// What all processes are told: the round, or 0 for a rest, and whether they are to end.
    private let plan: SharedNumbers

    init(_ directory: String, _ process: Int) throws {
        self.numbers = try SharedNumbers(
            path: "\(directory)/times-\(process)", count: Self.header + Self.records * 4)
        self.plan = try SharedNumbers(path: directory + "/plan")
    }

    // MARK: - The plan

    /// The round; zero or below between rounds.
    var phase: Int64 {
        get { self.plan[0] }
        set { self.plan[0] = newValue }
    }

    /// How the calls of a round fail.
    enum Course: Int64, CaseIterable {
        /// More and more of them.
        case rising
        /// None for a window; then nobody calls for a window, then all fail.
        case idle
        /// Whatever each process likes.
        case wild
        /// Traffic that begins: one process has failing calls alone, the others good ones.
        case begins
    }

    var course: Course {
        get { Course(rawValue: self.plan[3]) ?? .wild }
        set { self.plan[3] = newValue.rawValue }
    }

    /// The uptime at which the round began.
    var start: Int64 {
        get { self.plan[4] }
        set { self.plan[4] = newValue }
    }

    var isOver: Bool {
        get { self.plan[1] != 0 }
        set { self.plan[1] = newValue ? 1 : 0 }
    }

    /// Rises when a call was refused.
    var refusals: Int64 { self.plan[2] }

    func wasRefused() { self.plan.add(1, at: 2) }

    /// A caller of this process makes no call.
    func rest(_ caller: Int, in phase: Int64) { self.numbers[1 + caller] = phase }

    /// Whether both callers of this process rest.
    func isResting(in phase: Int64) -> Bool { self.numbers[1] == phase && self.numbers[2] == phase }

    // MARK: - Records

    var count: Int { Int(self.numbers[0]) }
    var isNearlyFull: Bool { self.count > Self.records * 3 / 4 }
    /// Whether there was no room for some of the records.
    var isOverfull: Bool { self.count > Self.records }

    func add(_ kind: Kind, _ begun: Int64, _ ended: Int64, _ returned: Int64) {
        let number = Int(self.numbers.add(1, at: 0)) - 1
        guard number < Self.records else { return }
        let place = Self.header + number * 4
        self.numbers[place + 1] = begun
        self.numbers[place + 2] = ended
        self.numbers[place + 3] = returned
        self.numbers[place] = kind.rawValue
    }

    func records(from first: Int) -> [Record] {
        (first..<min(self.count, Self.records)).compactMap { number -> Record? in
            let place = Self.header + number * 4
            guard let kind = Kind(rawValue: self.numbers[place]) else { return nil }
            return Record(
                kind: kind, begun: self.numbers[place + 1], ended: self.numbers[place + 2],
                returned: self.numbers[place + 3])
        }
    }
}
