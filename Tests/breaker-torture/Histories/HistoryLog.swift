import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What one caller asked and was told, in memory that outlives its process.
final class HistoryLog: Sendable {
    enum What: Int64 {
        case register = 1
        case admit, report, record, reset, holdOpen, holdClosed, release, probe, forget, look, permitted, close
    }

    enum Answer: Int64 {
        case done = 1
        case ran, open, held, probing, yes, no, nobody, failed
        /// It is done some time later.
        case later
    }

    struct Record {
        var what: What
        var phase: Int64
        var circuit: Int
        var begin: Int64
        /// Zero where the caller was killed before.
        var end: Int64 = 0
        var answer: Answer?
        var value: Int64 = 0
        /// The ending that is reported or recorded, or how long a hold lasts, or zero.
        var argument: Int64 = 0
        /// The record of the admission whose end is reported.
        var admission = -1
        /// What the clock showed before and after.
        var clock: ClosedRange<Int64>
        /// Whether the store was healthy before and after.
        var isHealthy = true
    }

    private enum Field: Int {
        case what, phase, circuit, begin, argument, admission, before, end, answer, value, after, isHealthy
    }

    static let noValue = Int64.min
    private static let most = 1 << 12
    private static let (header, size) = (8, 16)

    private let numbers: SharedNumbers

    init(_ directory: String, _ lane: Int) throws {
        self.numbers = try SharedNumbers(
            path: "\(directory)/history-\(lane)", count: Self.header + Self.most * Self.size)
    }

    /// In nanoseconds, the same for all processes.
    static var now: Int64 { ts_now(CLOCK_MONOTONIC) }

    var count: Int { Int(self.numbers[0]) }
    var isNearlyFull: Bool { self.count > Self.most * 3 / 4 }

    /// Writes down that a call is about to begin; returns its number.
    func begin(_ record: Record) -> Int {
        let number = self.count
        guard number < Self.most else { return Self.most - 1 }
        self[number, .phase] = record.phase
        self[number, .circuit] = Int64(record.circuit)
        self[number, .argument] = record.argument
        self[number, .admission] = Int64(record.admission)
        self[number, .before] = record.clock.lowerBound
        self[number, .begin] = Self.now
        self[number, .what] = record.what.rawValue
        self.numbers[0] = Int64(number + 1)
        return number
    }

    /// Writes down what the caller was told; the last word makes it count.
    func end(_ number: Int, _ answer: Answer, _ value: Int64, clock: Int64, isHealthy: Bool) {
        let end = Self.now
        self[number, .answer] = answer.rawValue
        self[number, .value] = value
        self[number, .after] = clock
        self[number, .isHealthy] = isHealthy ? 1 : 0
        self[number, .end] = end
    }

    func record(_ number: Int) -> Record? {
        guard let what = What(rawValue: self[number, .what]) else { return nil }
        let end = self[number, .end]
        let before = self[number, .before]
        return Record(
            what: what, phase: self[number, .phase], circuit: Int(self[number, .circuit]), begin: self[number, .begin],
            end: end, answer: end == 0 ? nil : Answer(rawValue: self[number, .answer]), value: self[number, .value],
            argument: self[number, .argument], admission: Int(self[number, .admission]),
            clock: before...(end == 0 ? .max : max(before, self[number, .after])),
            isHealthy: end != 0 && self[number, .isHealthy] == 1)
    }

    private subscript(number: Int, field: Field) -> Int64 {
        get { self.numbers[Self.header + number * Self.size + field.rawValue] }
        set { self.numbers[Self.header + number * Self.size + field.rawValue] = newValue }
    }
}

/// What is told of a circuit, as one number of a log.
extension HistoryCircuit.Look {
    private static let step: Int64 = 10_000

    var packed: Int64 {
        [self.failures, self.probes, self.trips].reduce(self.word?.rawValue ?? 0) {
            $0 * Self.step + min(Int64($1), Self.step - 1)
        }
    }

    init(packed: Int64) {
        let (trips, rest) = (packed % Self.step, packed / Self.step)
        self.init(
            word: Word(rawValue: rest / Self.step / Self.step), failures: Int(rest / Self.step % Self.step),
            probes: Int(rest % Self.step), trips: Int(trips))
    }
}
