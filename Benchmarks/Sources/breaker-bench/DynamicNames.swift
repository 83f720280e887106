import BreakerStore
import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A service that has a circuit for each tenant, and asks the store for the handle at each request.
struct DynamicNames {
    private static let known = 1_000
    private static let step = 10_000

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        try await Self.askForKnownNames(&table, effort)
        try await Self.askForEverNewNames(&table, effort)
    }

    private static func askForKnownNames(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let store = try CircuitStore(path: directory + "/known.db")
            defer { store.close() }
            let names = (0..<Self.known).map { "tenant-\($0)" }
            _ = try store.breakers(names.map { CircuitBreaker.Config(name: $0) })
            let count = effort.fastCalls / 10
            let rounds = try await Rounds.run(
                effort.rounds, effort,
                [{ try Self.ask(count, store, names) }, { Self.makeConfigs(count, names) }]
            )
            table.addAmount(
                "a handle for a known name, with its config", ours: rounds[0], atMost: 500, .nanoseconds)
            table.addAmount("  of that, making the config", ours: rounds[1], atMost: 500, .nanoseconds)
        }
    }

    /// Each name once; the clock goes on by a minute after each ten thousand.
    private static func askForEverNewNames(_ table: inout Table, _ effort: Effort) async throws {
        try await Program.withDirectory { directory in
            let clock = ManualHostClock()
            var configuration = CircuitStore.Configuration()
            configuration.clock = clock
            configuration.busyTimeout = .seconds(20)
            configuration.forgetIdleAfter = .seconds(60)
            let path = directory + "/names.db"
            let store = try CircuitStore(path: path, configuration: configuration)
            defer { store.close() }
            var early: (heap: Int, file: Int)?
            for number in 0..<effort.names {
                if number.isMultiple(of: Self.step) { clock.advance(by: .seconds(61)) }
                if number == 100_000 { early = Self.sizes(path) }
                _ = try store.breaker(CircuitBreaker.Config(name: "tenant-\(number)"))
            }
            let late = Self.sizes(path)
            guard let early else { return }
            table.addAmount(
                "\(effort.names) different names, memory over that after 100,000",
                ours: Double(late.heap - early.heap) / 1e6, atMost: 10, .megabytes)
            table.addAmount(
                "  the file, over that after 100,000", ours: Double(late.file - early.file) / 1e6, atMost: 10,
                .megabytes)
        }
    }

    private static func sizes(_ path: String) -> (heap: Int, file: Int) {
        let file = ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return unsafe stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
        return (Int(bb_heap()), file)
    }

    // MARK: - Loops

    @inline(never)
    private static func ask(_ count: Int, _ store: CircuitStore, _ names: [String]) throws -> Double {
        var sum = 0
        let watch = Stopwatch()
        for number in 0..<count {
            let breaker = try store.breaker(CircuitBreaker.Config(name: names[number % names.count]))
            sum &+= breaker.name.utf8.count
        }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }

    @inline(never)
    private static func makeConfigs(_ count: Int, _ names: [String]) -> Double {
        var sum = 0
        let watch = Stopwatch()
        for number in 0..<count {
            let config = CircuitBreaker.Config(name: names[number % names.count])
            sum &+= config.name.utf8.count &+ config.minimumReporters
        }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }
}
