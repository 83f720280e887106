/// A handle for one circuit of a store.
public final class CircuitBreaker: Sendable {
    init() {}
}
