/// A config that several owners share instead of copying it: a process may have a hundred thousand circuits.
final class ConfigBox: Sendable {
    let config: CircuitBreaker.Config

    init(_ config: CircuitBreaker.Config) { self.config = config }
}
