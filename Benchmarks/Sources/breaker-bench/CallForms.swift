import BreakerStore

/// A healthy call in each form, over the same closures without a breaker.
struct CallForms {
    /// One form: the call through a circuit, and the same closures called without one; each so many times.
    private struct Form {
        var name: String
        var atMost: Double
        var allocations = 0
        var guarded: (CircuitBreaker, Int) async throws -> Double
        var bare: (Int) async throws -> Double
    }

    private static func breakers(
        _ path: String, _ configuration: CircuitStore.Configuration = CircuitStore.Configuration()
    ) throws -> [CircuitBreaker] {
        let store = try CircuitStore(path: path, configuration: configuration)
        let rules: [(String, TripRule)] = [
            ("5 failures in 60 s", .failures(5, within: .seconds(60))),
            ("5 failures in a row", .consecutiveFailures(5)),
            ("50 % of 100 calls", .failureRate(0.5, minimumCalls: 100, within: .seconds(60))),
        ]
        return try rules.map { try store.breaker(CircuitBreaker.Config(name: $0.0, trip: $0.1)) }
    }

    private static func callAll(_ breakers: [CircuitBreaker], _ forms: [Form], _ count: Int) async throws {
        for breaker in breakers { for form in forms { _ = try await form.guarded(breaker, count) } }
    }

    /// In a child whose thread may make no system call.
    static func runWithoutSystemCalls(_ path: String) async throws {
        let breakers = try Self.breakers(path)
        let forms = Self.forms(CommandLine.arguments.count)
        try await Child.withoutSystemCalls { try await Self.callAll(breakers, forms, 10_000) }
    }

    private static func clockReads(_ path: String) async throws -> Int {
        let clock = CountingClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        let breakers = try Self.breakers(path, configuration)
        let forms = Self.forms(CommandLine.arguments.count)
        try await Self.callAll(breakers, forms, 1)
        let before = clock.reads
        try await Self.callAll(breakers, forms, 1_000)
        return clock.reads - before
    }

    static func measure(_ table: inout Table, _ effort: Effort) async throws {
        let counts = effort.fastCalls
        try await Program.withDirectory { directory in
            table.addCount(
                "system calls in 10,000 calls of each form",
                try Child.systemCalls(.healthyForms, directory + "/child.db"), .exactly(0))
            // The store's own thread reads the clock now and then.
            table.addCount(
                "clock reads in 1,000 calls of each form", try await Self.clockReads(directory + "/clock.db"),
                .atMost(100))
            for breaker in try Self.breakers(directory + "/forms.db") {
                let rule = breaker.name
                for form in Self.forms(CommandLine.arguments.count) {
                    _ = try await form.guarded(breaker, 1)
                    let rounds = try await Rounds.run(
                        effort.rounds, effort,
                        [{ try await form.bare(counts) }, { try await form.guarded(breaker, counts) }])
                    table.addDifference(
                        "\(form.name), \(rule)", ours: rounds[1], floor: rounds[0], atMost: form.atMost, .nanoseconds)
                    let before = Counts.allocations
                    _ = try await form.guarded(breaker, 10_000)
                    table.addCount(
                        "  allocations in 10,000 of them", Counts.growth(from: before, to: Counts.allocations),
                        .exactly(form.allocations * 10_000))
                }
            }
        }
    }

    private static func forms(_ seed: Int) -> [Form] {
        let later = Operations.answer(seed)
        let now = Operations.answerAtOnce(seed)
        let isBad = Operations.isBad(seed)
        let error = Operations.error(seed)
        let other = Operations.other(seed)
        let otherLater = Operations.otherLater(seed)
        return [
            Form(
                name: "synchronous", atMost: 15,
                guarded: { breaker, count in try Self.each(count) { try breaker.run(now) } },
                bare: { count in try Self.each(count) { try now() } }),
            Form(
                name: "synchronous, failingWhen", atMost: 15,
                guarded: { breaker, count in try Self.each(count) { try breaker.run(now, failingWhen: isBad) } },
                bare: { count in
                    try Self.each(count) {
                        let value = try now()
                        return isBad(value) ? 0 : value
                    }
                }),
            Form(
                name: "synchronous, failure", atMost: 15,
                guarded: { breaker, count in try Self.each(count) { try breaker.run(now, failure: error) } },
                bare: { count in
                    try Self.each(count) {
                        let value = try now()
                        return error(value) == nil ? value : 0
                    }
                }),
            Form(
                name: "synchronous, fallback", atMost: 15,
                guarded: { breaker, count in try Self.each(count) { try breaker.run(now, fallback: other) } },
                bare: { count in try Self.each(count) { do { return try now() } catch { return try other(error) } } }),
            Form(
                name: "asynchronous", atMost: 15,
                guarded: { breaker, count in try await Self.eachLater(count) { try await breaker.run(later) } },
                bare: { count in try await Self.eachLater(count) { try await later() } }),
            Form(
                name: "asynchronous, failingWhen", atMost: 30,
                guarded: { breaker, count in
                    try await Self.eachLater(count) { try await breaker.run(later, failingWhen: isBad) }
                },
                bare: { count in
                    try await Self.eachLater(count) {
                        let value = try await later()
                        return isBad(value) ? 0 : value
                    }
                }),
            Form(
                name: "asynchronous, failure", atMost: 30,
                guarded: { breaker, count in
                    try await Self.eachLater(count) { try await breaker.run(later, failure: error) }
                },
                bare: { count in
                    try await Self.eachLater(count) {
                        let value = try await later()
                        return error(value) == nil ? value : 0
                    }
                }),
            Form(
                name: "asynchronous, fallback", atMost: 30,
                guarded: { breaker, count in
                    try await Self.eachLater(count) { try await breaker.run(later, fallback: otherLater) }
                },
                bare: { count in
                    try await Self.eachLater(count) {
                        do { return try await later() } catch { return try await otherLater(error) }
                    }
                }),
            Form(
                name: "asynchronous, failure and fallback", atMost: 30,
                guarded: { breaker, count in
                    try await Self.eachLater(count) {
                        try await breaker.run(later, failure: error, fallback: otherLater)
                    }
                },
                bare: { count in
                    try await Self.eachLater(count) {
                        do {
                            let value = try await later()
                            return error(value) == nil ? value : 0
                        } catch { return try await otherLater(error) }
                    }
                }),
            Form(
                name: "a permit", atMost: 80, allocations: 1,
                guarded: { breaker, count in
                    try Self.each(count) {
                        let permit: CallPermit = try breaker.admit()
                        let value = try now()
                        permit.succeed()
                        return value
                    }
                },
                bare: { count in try Self.each(count) { try now() } }),
        ]
    }

    @inline(__always)
    private static func each(_ count: Int, _ call: () throws -> Int) rethrows -> Double {
        var sum = 0
        let watch = Stopwatch()
        for _ in 0..<count { sum &+= try call() }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }

    @inline(__always)
    private static func eachLater(_ count: Int, _ call: () async throws -> Int) async rethrows -> Double {
        var sum = 0
        let watch = Stopwatch()
        for _ in 0..<count { sum &+= try await call() }
        return Operations.use(sum, watch.nanoseconds / Double(count))
    }
}
