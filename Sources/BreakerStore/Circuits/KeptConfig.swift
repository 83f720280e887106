/// A config that several owners keep, without a copy for each: a process may have a hundred thousand circuits.
final class KeptConfig: Sendable {
    let config: CircuitBreaker.Config

    init(_ config: CircuitBreaker.Config) { self.config = config }
}
