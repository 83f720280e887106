/// A policy that handles made together share, so that none needs a copy.
final class KeptPolicy: Sendable {
    let policy: CallPolicy

    init(_ policy: CallPolicy) { self.policy = policy }
}
