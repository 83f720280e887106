/// Who will ask next: a circuit's handles in one store.
struct Asker: Sendable {
    let circuit: SharedCircuit
    let gate: Gate
}

/// What all handles of one circuit in one store share: the cached answer and what errors tell.
final class SharedCircuit: Sendable {
    /// What a refusal tells beside its cause.
    struct Told: Sendable {
        var group: String?
        var lastError: String?
        /// The epoch when the file was last read; nil before that.
        var epoch: Int64?
    }

    let name: String
    let slot = AnswerSlot()
    let refusals: Refusals.Counter
    /// The rules as this process first registered them: for memory, where the file's can't be read.
    let firstRules: Rules
    private let registered: ForkSafe<CircuitBreaker.Config>
    private let toldLast: ForkSafe<Told>

    init(_ config: CircuitBreaker.Config, refusals: Refusals.Counter) {
        self.name = config.name
        self.refusals = refusals
        self.firstRules = .inMemory(config)
        self.registered = ForkSafe(config)
        self.toldLast = ForkSafe(Told(group: config.group))
    }

    /// The config that this process registered last.
    var registeredConfig: CircuitBreaker.Config {
        get { self.registered.value }
        set { self.registered.value = newValue }
    }

    var told: Told {
        get { self.toldLast.value }
        set { self.toldLast.value = newValue }
    }
}
