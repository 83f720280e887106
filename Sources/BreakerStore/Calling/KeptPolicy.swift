/// The policy that handles made together share, without a copy for each.
final class KeptPolicy: Sendable {
    let policy: CallPolicy

    init(_ policy: CallPolicy) { self.policy = policy }
}
