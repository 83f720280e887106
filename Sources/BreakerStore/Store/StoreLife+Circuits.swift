/// The circuits that this process uses, and what of them the file has not been told yet.
extension StoreLife {
    struct Circuits {
        /// A config that has not been stored, and when it was registered.
        struct Unstored {
            var config: CircuitBreaker.Config
            var uptime: Int64
        }

        /// By which rules each circuit goes: it is registered so in a new file.
        fileprivate(set) var inForce: [CircuitName: CircuitBreaker.Config] = [:]
        fileprivate(set) var unstored: [CircuitName: Unstored] = [:]

        var areUsed: Bool { !self.inForce.isEmpty }
    }

    /// A circuit is being registered: from the first one on there are answers that the thread has to watch over.
    mutating func registering(_ config: CircuitBreaker.Config) -> Actions {
        let isFirst = !self.circuits.areUsed
        self.circuits.inForce[CircuitName(config.name)] = config
        return Actions(wakesThread: isFirst)
    }

    /// A handle for a circuit was made: another thread may have dropped the circuit since it was registered.
    mutating func used(_ config: CircuitBreaker.Config) -> Actions {
        self.circuits.inForce[CircuitName(config.name)] == nil ? self.registering(config) : Actions()
    }

    mutating func registered(_ name: CircuitName) { self.circuits.unstored[name] = nil }

    /// A config could not be stored.
    ///
    /// Noted only now: the store's thread would register it a second time meanwhile, over whatever others have stored
    /// since.
    mutating func registrationFailed(_ one: Circuits.Unstored) {
        self.circuits.unstored[CircuitName(one.config.name)] = one
    }

    /// The same of one that was tried again; a newer one of the same circuit stays.
    mutating func registrationFailedAgain(_ one: Circuits.Unstored) {
        let name = CircuitName(one.config.name)
        if self.circuits.unstored[name] == nil { self.circuits.unstored[name] = one }
    }

    /// Hands over what the file is to be told now.
    mutating func takeUnstored() -> [Circuits.Unstored] {
        defer { self.circuits.unstored.removeAll() }
        return Array(self.circuits.unstored.values)
    }

    /// The file says by which rules a circuit goes: where another file takes the place of this one, the circuit is
    /// registered there as it was in force, not as this process knew it once.
    mutating func ruled(by config: CircuitBreaker.Config) {
        let name = CircuitName(config.name)
        guard self.circuits.unstored[name] == nil, self.circuits.inForce[name] != nil else { return }
        self.circuits.inForce[name] = config
    }

    /// Nobody in this process uses the circuit any longer.
    mutating func dropped(_ name: CircuitName) {
        self.circuits.inForce[name] = nil
        self.circuits.unstored[name] = nil
    }
}
