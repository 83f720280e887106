/// Settings that all stores of one process on one file must have in common.
extension CircuitStore.Configuration {
    /// Throws if this store's settings differ from those of the store that this process has open on the file.
    ///
    /// Both stores share one thread, one writer and one clock. Settings that matter only while a file is opened or
    /// created are not compared, except the migration: a store that asks for one is not silently left without it.
    func requireShareable(
        with other: CircuitStore.Configuration,
        path: String
    ) throws(BreakerStoreError) {
        func require(_ isShareable: Bool, _ field: String, _ own: String, _ others: String) throws(BreakerStoreError) {
            guard !isShareable else { return }
            throw BreakerStoreError(
                code: .invalidConfiguration,
                message: "\(field) is \(own), but \(others) in the store that this process has open on the file",
                advice: "use the same, or one store",
                path: path
            )
        }
        try require(
            self.durability == other.durability, "durability", ".\(self.durability)", ".\(other.durability)")
        try require(self.eventsKept == other.eventsKept, "eventsKept", "\(self.eventsKept)", "\(other.eventsKept)")
        try require(
            self.forgetIdleAfter == other.forgetIdleAfter, "forgetIdleAfter",
            Self.text(self.forgetIdleAfter), Self.text(other.forgetIdleAfter))
        let mayMigrate = self.migration == .never || other.migration == .automatic
        try require(mayMigrate, "migration", ".\(self.migration)", ".\(other.migration)")
        try require(Self.isUsable(other.clock, by: self.clock), "clock", "\(type(of: self.clock))", "another")
    }

    private static func text(_ duration: Duration?) -> String { duration?.readable ?? "nil" }

    /// Whether a store that asks for the clock `own` can use the clock `other`.
    ///
    /// A store that asks for the default clock accepts any clock. Two values of one type count as the same clock, two
    /// objects only if they are identical.
    private static func isUsable(_ other: any HostClock, by own: any HostClock) -> Bool {
        if own is SystemHostClock { return true }
        guard type(of: own) == type(of: other) else { return false }
        guard type(of: own) is AnyClass else { return true }
        return (own as AnyObject) === (other as AnyObject)
    }
}
