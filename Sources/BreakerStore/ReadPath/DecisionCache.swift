import CBreakerStore

/// The cached decision about one circuit, which is valid until any process commits.
///
/// The decision is stored with the wal-index header that was read before the circuit's row. SQLite changes that header
/// in each commit, so a decision is valid while the header in memory is still the same.
/// docs/how-a-healthy-call-costs-nothing.md has the whole argument.
///
/// Sendable: the pointer never changes, and the memory behind it is a seqlock of atomics with one writer at a time.
@safe
struct DecisionCache: ~Copyable, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<bs_decision_cache>

    init() { unsafe self.raw = bs_decision_cache_new() }

    deinit { unsafe free(self.raw) }

    /// The cached decision, or `.unknown` if any process may have committed since it was read.
    ///
    /// No system call, no lock, no clock, no allocation.
    @inline(__always)
    func read(_ gate: Gate) -> CallDecision {
        unsafe CallDecision(raw: bs_read_decision(self.raw, gate.raw))
    }

    /// Caches a decision, unless another thread is writing to the cache at this moment.
    func publish(_ decision: CallDecision, readUnder tag: Tag, generation: UInt64) {
        var raw = tag.raw
        unsafe bs_publish_decision(self.raw, &raw, generation, decision.raw)
    }
}
