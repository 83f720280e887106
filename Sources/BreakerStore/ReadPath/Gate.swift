import CBreakerStore

/// Opens and shuts all cached decisions of one store at once, and has the wal-index header with which they are
/// compared.
///
/// Sendable: the pointer never changes, and only atomic operations change the memory behind it. The header's mapping
/// stays readable: the core keeps each mapping that it ever opened a gate to, and the gate's store keeps the core.
@safe
final class Gate: @unchecked Sendable {
    let raw: UnsafeMutablePointer<bs_gate>

    init() {
        _ = ForkRecord.install
        unsafe self.raw = bs_gate_new(ForkRecord.record)
    }

    deinit { unsafe free(self.raw) }

    /// Whether this process is a fork of the process that opened the store.
    var isForked: Bool { unsafe bs_gate_forked(self.raw) != 0 }

    func open(to mapping: HeaderMapping, generation: UInt64) {
        unsafe bs_gate_set(self.raw, mapping.page, generation)
    }

    func shut() { unsafe bs_gate_set(self.raw, nil, bs_gate_generation(self.raw)) }

    /// The header as it is now; nil while no decision may be cached.
    ///
    /// Read it before the circuit: then the circuit is at least as new as the header, and a commit in between makes the
    /// decision invalid.
    func tag() -> (tag: Tag, generation: UInt64)? {
        let generation = unsafe bs_gate_generation(self.raw)
        guard let page = unsafe bs_gate_page(self.raw) else { return nil }
        let tag = unsafe WalIndex(page: page).tag()
        return tag.isReliable ? (tag, generation) : nil
    }
}
