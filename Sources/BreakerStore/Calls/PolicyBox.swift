/// A policy that handles share instead of copying it.
final class PolicyBox: Sendable {
    let policy: CallPolicy

    init(_ policy: CallPolicy) { self.policy = policy }
}
