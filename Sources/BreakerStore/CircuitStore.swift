/// A file of circuits that all processes of this host share.
public final class CircuitStore: Sendable {
    init() {}
}
