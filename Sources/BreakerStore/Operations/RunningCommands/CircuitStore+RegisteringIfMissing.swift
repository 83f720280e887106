extension CircuitStore {
    /// A handle for a circuit, which is registered with `config` only if the file has no such circuit.
    ///
    /// Rules that are stored stay as they are. Returns them beside the handle; where this release can't use them,
    /// `config`. Throws as ``breaker(named:calls:)`` does. Commits on the calling thread.
    package func breaker(
        registeringIfMissing config: CircuitBreaker.Config
    ) throws(BreakerStoreError) -> (breaker: CircuitBreaker, stored: CircuitBreaker.Config) {
        let core = try self.usableCore()
        try config.validate()
        // In use before the commit, so that the store's thread does not drop the circuit meanwhile.
        let (circuit, _) = core.circuits.use(orMakeWith: ConfigBox(config))
        // Made before the commit can throw: the end of the handle ends the use of the circuit.
        let breaker = self.handle(circuit, PolicyBox(CallPolicy()), core)
        let stored = try core.commit(until: self.deadline) {
            (transaction) throws(BreakerStoreError) -> CircuitBreaker.Config in
            guard let row = try transaction.row(of: config.name) else {
                try transaction.register(config)
                return config
            }
            try transaction.setUsed(of: config.name)
            return CircuitBreaker.Config(name: config.name, row: row.resolved(with: config))
        }
        circuit.adoptStored(ConfigBox(stored))
        core.setRules(of: stored)
        self.readFirst(breaker, core)
        return (breaker, stored)
    }
}
