/// What the benchmarks found out: a row for each figure or count.
struct Table: Codable {
    /// What a row says about its goal.
    enum Verdict: String, Codable {
        case met
        case notMet = "not met"
        /// The comparison means nothing here.
        case void
        case notCounted = "can't be counted here"
    }

    struct Row: Codable {
        var what: String
        var ours: String
        var floor: String
        var comparison: String
        var goal: String
        var verdict: Verdict
        /// Whether the exit code depends on it: counts do, times never.
        var isGate: Bool
        /// The same as numbers, in the unit that the texts name.
        var oursValue: Double?
        var floorValue: Double?
    }

    private(set) var rows: [Row] = []
    private(set) var notes: [String] = []

    /// Whether every count is within its limit.
    var passes: Bool { !self.rows.contains { $0.isGate && $0.verdict == .notMet } }

    mutating func note(_ text: String) { self.notes.append(text) }

    /// A time against its floor; printed, never judged by the exit code.
    mutating func addDifference(
        _ what: String, ours: Double, floor: Double, atMost limit: Double, _ unit: Unit
    ) {
        self.rows.append(
            Row(
                what: what,
                ours: unit.text(ours),
                floor: unit.text(floor),
                comparison: "+ \(unit.text(ours - floor))",
                goal: "≤ + \(unit.text(limit))",
                verdict: ours - floor <= limit ? .met : .notMet,
                isGate: false,
                oursValue: ours,
                floorValue: floor
            )
        )
    }

    mutating func addRatio(
        _ what: String, ours: Double, floor: Double, _ goal: Goal, _ unit: Unit, isVoid: Bool = false
    ) {
        let ratio = ours / floor
        self.rows.append(
            Row(
                what: what,
                ours: unit.text(ours),
                floor: unit.text(floor),
                comparison: "× \(Unit.decimal(ratio, 2))",
                goal: goal.text,
                verdict: isVoid ? .void : goal.isMet(by: ratio) ? .met : .notMet,
                isGate: false,
                oursValue: ours,
                floorValue: floor
            )
        )
    }

    /// A time or another amount without a floor; printed, never judged by the exit code.
    mutating func addAmount(_ what: String, ours: Double, atMost limit: Double, _ unit: Unit) {
        self.rows.append(
            Row(
                what: what,
                ours: unit.text(ours),
                floor: "",
                comparison: "",
                goal: "≤ \(unit.text(limit))",
                verdict: ours <= limit ? .met : .notMet,
                isGate: false,
                oursValue: ours
            )
        )
    }

    /// A count that decides the exit code; nil where the system can't count it.
    mutating func addCount(_ what: String, _ count: Int?, _ limit: Limit) {
        self.rows.append(
            Row(
                what: what,
                ours: count.map(String.init) ?? "-",
                floor: "",
                comparison: "",
                goal: limit.text,
                verdict: count.map { limit.holds($0) ? .met : .notMet } ?? .notCounted,
                isGate: true,
                oursValue: count.map(Double.init)
            )
        )
    }
}

/// What a count must keep to.
enum Limit {
    case exactly(Int)
    case atMost(Int)

    var text: String {
        switch self {
        case .exactly(let count): "\(count)"
        case .atMost(let count): "≤ \(count)"
        }
    }

    func holds(_ value: Int) -> Bool {
        switch self {
        case .exactly(let count): value == count
        case .atMost(let count): value <= count
        }
    }
}

/// What a ratio shall be.
enum Goal {
    case atMost(Double)
    case atLeast(Double)

    var text: String {
        switch self {
        case .atMost(let limit): "≤ × \(Unit.decimal(limit, 2))"
        case .atLeast(let limit): "≥ × \(Unit.decimal(limit, 2))"
        }
    }

    func isMet(by ratio: Double) -> Bool {
        switch self {
        case .atMost(let limit): ratio <= limit
        case .atLeast(let limit): ratio >= limit
        }
    }
}

/// How a number is shown.
enum Unit {
    case nanoseconds, microseconds, milliseconds, perSecond, bytes, megabytes, plain

    func text(_ value: Double) -> String {
        switch self {
        case .nanoseconds: "\(Self.decimal(value, 1)) ns"
        case .microseconds: "\(Self.decimal(value, 1)) µs"
        case .milliseconds: "\(Self.decimal(value, 2)) ms"
        case .perSecond: "\(Self.decimal(value, 0)) /s"
        case .bytes: "\(Self.decimal(value, 0)) B"
        case .megabytes: "\(Self.decimal(value, 1)) MB"
        case .plain: Self.decimal(value, 2)
        }
    }

    static func decimal(_ value: Double, _ places: Int) -> String {
        guard value.isFinite else { return "-" }
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(scaled)" }
        let digits = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: places - digits.count) + digits
    }
}
