import CBreakerStore

/// The kept answer about one circuit, which counts until any process commits.
///
/// Sendable: the pointer never changes, and the memory behind it is a seqlock of atomics, which lets in one writer at a
/// time.
@safe
struct AnswerSlot: ~Copyable, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<bs_slot>

    init() { unsafe self.raw = bs_slot_new() }

    deinit { unsafe free(self.raw) }

    /// The answer, or `.unknown` if any process may have committed since the answer was read.
    ///
    /// No system call, no lock, no clock, no allocation.
    @inline(__always)
    func ask(_ gate: Gate) -> CallAnswer {
        unsafe CallAnswer(raw: bs_ask(self.raw, gate.raw))
    }

    /// Keeps the answer, unless another thread is keeping an answer at this very moment.
    func publish(_ answer: CallAnswer, readUnder tag: Tag, generation: UInt64) {
        var raw = tag.raw
        unsafe bs_publish(self.raw, &raw, generation, answer.raw)
    }
}
