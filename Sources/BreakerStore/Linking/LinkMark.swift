/// The sign of change: as long as it stays the same, nobody has committed anything to the file.
package struct LinkMark: Equatable, Sendable {
    private let tag: Tag
    /// Rises with each opening, for another file may have the same header.
    private let generation: UInt64

    fileprivate init(tag: Tag, generation: UInt64) {
        self.tag = tag
        self.generation = generation
    }
}

extension CircuitStore {
    /// The sign of change as it is now; taken before the file is read, it says later whether what was read still holds.
    ///
    /// Nil while nothing proves that the file is unchanged: the store is degraded, closed or read-only, this process is
    /// a fork, or the header can't be mapped. Then a caller must look each time. Takes no lock, makes no system call,
    /// and may be called from any thread.
    package func changeMark() -> LinkMark? {
        guard !self.gate.isForked, let (tag, generation) = self.gate.tag() else { return nil }
        return LinkMark(tag: tag, generation: generation)
    }
}
