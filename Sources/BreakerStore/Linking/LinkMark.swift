/// A mark of the file's present content: as long as the mark stays equal, no process has committed to the file.
package struct LinkMark: Equatable, Sendable {
    fileprivate let tag: Tag
    /// Rises with each opening, because another file may have the same header.
    fileprivate let generation: UInt64
}

extension CircuitStore {
    /// The present mark; a mark taken before the file is read shows later whether the reading still holds.
    ///
    /// Nil while nothing proves that the file is unchanged: the store is degraded, closed or read-only, this process is
    /// a fork, or the header can't be mapped. Then the caller must read the file each time. Takes no lock, makes no
    /// system call, and may be called from any thread.
    package func changeMark() -> LinkMark? {
        guard !self.gate.isForked, let (tag, generation) = self.gate.tag() else { return nil }
        return LinkMark(tag: tag, generation: generation)
    }
}
