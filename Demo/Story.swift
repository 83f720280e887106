import BreakerStore

/// The story: both parts, and what came of them.
struct Story {
    let console: Console
    let claims: Claims

    func tell() throws {
        self.console.write(
            """
            Four workers call one flaky service, first through one circuit that they share, then through a breaker
            in the memory of each. The rules are the same: \(Rules.maxFailures) failures within \
            \(Rules.window.components.seconds) s open the circuit for \(Rules.recovery.components.seconds) s,
            then one call may probe; if the probe fails, the circuit stays open for a minute.
            A doomed call is one that reaches the service while it is broken: the service counts them.
            The story takes about 20 s, and checks each of its claims (✓).
            """)
        let scratch = try Scratch()
        defer { scratch.remove() }
        let shared = try self.playShared(path: scratch.path + "/breakers.db")
        let inMemory = try self.playInMemory()
        self.conclude(shared, inMemory)
    }

    private func playShared(path: String) throws -> Toll {
        self.console.begin("One circuit for all: BreakerStore, in one file")
        // The demo makes the store, and then only reads it: the workers alone keep the circuit.
        try CircuitStore(path: path).close()
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let stage = try Stage(path: path)
        defer { stage.clear() }
        return try SharedAct(stage: stage, store: store, console: self.console, claims: self.claims).play()
    }

    private func playInMemory() throws -> Toll {
        self.console.begin("The same story with four breakers in memory")
        let stage = try Stage(path: nil)
        defer { stage.clear() }
        return try MemoryAct(stage: stage, console: self.console, claims: self.claims).play()
    }

    private func conclude(_ shared: Toll, _ inMemory: Toll) {
        self.console.begin("Doomed calls")
        self.console.write(Self.row("", "shared", "in memory"))
        self.console.write(Self.row("until all were refused", shared.untilOpen, inMemory.untilOpen))
        self.console.write(Self.row("to find out whether the service is back", shared.probing, inMemory.probing))
        self.console.write(Self.row("by the worker that replaced a dead one", shared.newcomer, inMemory.newcomer))
        self.console.write(Self.row("by the workers of the new release", shared.deployment, inMemory.deployment))
        self.console.write("  doomed calls: shared \(shared.total), in memory \(inMemory.total)")
        self.claims.check(
            "the shared circuit spared the service more than three quarters of them",
            shared.total * 4 < inMemory.total, is: true)
    }

    private static func row(_ title: String, _ shared: some Any, _ inMemory: some Any) -> String {
        "  " + title.padded(to: 42) + "\(shared)".padded(to: 10) + "\(inMemory)"
    }
}
