import BreakerStore
import BreakerTestSupport

/// What the processes of this part tell each other: memory that outlives each of them.
final class StaleAnswersBoard: Sendable {
    enum Word: Int {
        /// Odd while files are taken away: what is acknowledged then may be lost.
        case era
        /// Odd while stores may be degraded: then memory answers calls.
        case unrest
        case checks, calls, misses, commits, stale
        /// Rises when the readers are to say that they are back on the files that are there.
        case request
    }

    /// Of a circuit.
    private enum Field: Int {
        /// How many changes were begun.
        case begun
        /// The number of the change that was acknowledged last; zero for none.
        case number
        /// What it made of the circuit: the epoch, and in the last bit whether calls are let through.
        case acknowledged
    }

    /// Where the readers' last answers to a request are, and where the circuits.
    private static let (confirmations, circuits) = (32, 64)
    /// One circuit of each writer, and one that all of them change.
    static let names = (0..<StaleAnswers.writers).map { "own-\($0)" } + ["common"]
    static let common = StaleAnswers.writers

    let directory: String
    private let numbers: SharedNumbers

    init(_ directory: String) throws {
        self.directory = directory
        self.numbers = try SharedNumbers(path: directory + "/board")
    }

    var store: String { self.directory + "/circuits.db" }

    subscript(word: Word) -> Int64 { self.numbers[word.rawValue] }

    @discardableResult
    func add(_ word: Word, _ count: Int64 = 1) -> Int64 { self.numbers.add(count, at: word.rawValue) }

    // MARK: - Circuits

    func begun(_ circuit: Int) -> Int64 { self.numbers[Self.place(circuit, .begun)] }
    func number(_ circuit: Int) -> Int64 { self.numbers[Self.place(circuit, .number)] }
    func acknowledged(_ circuit: Int) -> Int64 { self.numbers[Self.place(circuit, .acknowledged)] }

    func begin(_ circuit: Int) -> Int64 { self.numbers.add(1, at: Self.place(circuit, .begun)) }

    func acknowledge(_ circuit: Int, number: Int64, epoch: Epoch, permits: Bool) {
        self.numbers.raise(Self.place(circuit, .acknowledged), to: epoch.rawValue << 1 | (permits ? 1 : 0))
        self.numbers.raise(Self.place(circuit, .number), to: number)
        self.add(.commits)
    }

    /// Nothing is acknowledged: the files that knew of it are gone.
    func forget() {
        for circuit in Self.names.indices {
            self.numbers[Self.place(circuit, .number)] = 0
            self.numbers[Self.place(circuit, .acknowledged)] = 0
        }
    }

    private static func place(_ circuit: Int, _ field: Field) -> Int { Self.circuits + circuit * 4 + field.rawValue }

    // MARK: - Readers

    func confirm(_ request: Int64, by reader: Int) { self.numbers[Self.confirmations + reader] = request }

    func hasConfirmed(_ reader: Int) -> Bool { self.numbers[Self.confirmations + reader] == self[.request] }

    // MARK: - The store

    /// A store that waits long for others: only what is broken on purpose degrades it.
    func openStore() throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .seconds(30)
        configuration.firstRetry = .milliseconds(1)
        configuration.eventsKept = 10
        return try CircuitStore(path: self.store, configuration: configuration)
    }

    func register(_ circuit: Int, in store: CircuitStore) throws -> CircuitBreaker {
        try store.breaker(
            .init(
                name: Self.names[circuit],
                trip: .failures(1, within: .seconds(60)),
                recovery: RecoveryRule(timeout: .seconds(36_000), cap: .seconds(36_000))
            )
        )
    }
}
