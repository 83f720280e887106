/// The circuits that this process uses, and the configs that the file has not been told yet.
extension StoreLife {
    struct Circuits {
        /// A config that has not been stored, and when it was registered.
        struct Unstored {
            var config: CircuitBreaker.Config
            var uptime: Int64
        }

        /// The config in force of each circuit; the circuit is registered with it in a new file.
        fileprivate(set) var inForce = NameTable<KeptConfig>()
        fileprivate(set) var unstored = NameTable<Unstored>()

        var areUsed: Bool { !self.inForce.isEmpty }
    }

    /// A circuit is being registered.
    mutating func registering(_ config: KeptConfig) { self.circuits.inForce[CircuitName(config.config.name)] = config }

    /// A handle for a circuit was made; true if another thread has dropped the circuit since it was registered.
    mutating func used(_ config: KeptConfig) -> (Bool, Actions) {
        guard self.circuits.inForce[CircuitName(config.config.name)] == nil else { return (false, Actions()) }
        self.registering(config)
        return (true, self.handlesWereMade())
    }

    /// Handles were made.
    ///
    /// The first ones wake the thread: from then on the thread looks whether the files are in their places. The thread
    /// is not woken earlier, as it would hold locks that the caller needs to register the circuits and to read them.
    func handlesWereMade() -> Actions { Actions(wakesThread: self.nextLook == nil) }

    mutating func registered(_ name: CircuitName) { self.circuits.unstored[name] = nil }

    /// A config could not be stored.
    ///
    /// The config is noted only after the failure. Had it been noted before, the store's thread might have registered
    /// it a second time, over a config that another process has stored since.
    mutating func registrationFailed(_ one: Circuits.Unstored) {
        self.circuits.unstored[CircuitName(one.config.name)] = one
    }

    /// A config could not be stored when the thread tried again; a newer config of the same circuit stays.
    mutating func registrationFailedAgain(_ one: Circuits.Unstored) {
        let name = CircuitName(one.config.name)
        if self.circuits.unstored[name] == nil { self.circuits.unstored[name] = one }
    }

    /// Hands over the configs that the file is to be told now.
    mutating func takeUnstored() -> [Circuits.Unstored] {
        defer { self.circuits.unstored.removeAll() }
        return Array(self.circuits.unstored.values)
    }

    /// The file tells the config in force of a circuit.
    ///
    /// If another file takes the place of this one, the circuit is registered there with this config, not with an older
    /// one of this process.
    mutating func ruled(by config: CircuitBreaker.Config) {
        let name = CircuitName(config.name)
        guard self.circuits.unstored[name] == nil, let known = self.circuits.inForce[name], known.config != config
        else { return }
        self.circuits.inForce[name] = KeptConfig(config)
    }

    /// Nobody in this process uses the circuit any longer.
    mutating func dropped(_ name: CircuitName) {
        self.circuits.inForce[name] = nil
        self.circuits.unstored[name] = nil
    }
}
