import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How a call ended, as far as the circuit is told.
enum RecordedOutcome: Int64 {
    case success = 1
    case failure, ignored
}

/// What one caller asked and was told, in memory that outlives its process.
///
/// A call counts as begun, or as returned, with the last word that is written of that: a kill leaves all or nothing.
final class CallLog: Sendable {
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
        var phase: Int64 = 0
        var circuit: Int
        /// In nanoseconds, by a clock that is the same for all processes.
        var begin: Int64 = 0
        /// Zero where the caller was killed before.
        var end: Int64 = 0
        var answer: Answer?
        var value: Int64 = 0
        /// The ending that is reported or recorded, or how long a hold lasts, or zero.
        var argument: Int64 = 0
        /// The record of the admission whose end is reported.
        var admission = -1
        /// What the store's clock showed before and after.
        var clock: ClosedRange<Int64>
        /// Whether the store was healthy before and after.
        var isHealthy = true

        /// The ending that the caller told, if it told one.
        var outcome: RecordedOutcome? { self.outcome(of: .report) ?? self.outcome(of: .record) }

        func outcome(of what: What) -> RecordedOutcome? {
            self.what == what && (what == .report || what == .record) ? RecordedOutcome(rawValue: self.argument) : nil
        }
    }

    /// What a process says of itself: each is zero until then.
    enum Fact: Int {
        /// The id under which the file knows it.
        case worker = 1
        /// The number of the SQLite with which it has opened the store.
        case version
        /// Where it is about to kill itself.
        case place
    }

    private enum Field: Int {
        case what, phase, circuit, begin, argument, admission, before, end, answer, value, after, isHealthy
    }

    static let noValue = Int64.min
    private static let (header, size) = (8, 16)

    private let numbers: SharedNumbers
    private let most: Int

    /// - Parameter most: for how many calls there is room.
    init(_ directory: String, _ lane: Int, most: Int = 1 << 12) throws {
        self.most = most
        self.numbers = try SharedNumbers(path: Self.path(directory, lane), count: Self.header + most * Self.size)
    }

    static func path(_ directory: String, _ lane: Int) -> String { "\(directory)/calls-\(lane)" }

    /// In nanoseconds, the same for all processes.
    static var now: Int64 { ts_now(CLOCK_MONOTONIC) }

    var count: Int { Int(self.numbers[0]) }
    var isNearlyFull: Bool { self.count > self.most * 3 / 4 }

    subscript(fact: Fact) -> Int64 {
        get { self.numbers[fact.rawValue] }
        set { self.numbers[fact.rawValue] = newValue }
    }

    /// Writes down that a call is about to begin; returns its number.
    func begin(_ record: Record) -> Int {
        let number = self.count
        precondition(number < self.most, "the log of calls is full")
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
    func end(_ number: Int, _ answer: Answer, _ value: Int64 = CallLog.noValue, clock: Int64, isHealthy: Bool = true) {
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

    /// All of them, in the order of their begins.
    var records: [Record] { (0..<min(self.count, self.most)).compactMap { self.record($0) } }

    private subscript(number: Int, field: Field) -> Int64 {
        get { self.numbers[Self.header + number * Self.size + field.rawValue] }
        set { self.numbers[Self.header + number * Self.size + field.rawValue] = newValue }
    }
}
