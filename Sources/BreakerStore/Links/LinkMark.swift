/// Identifies the file's current content: as long as the mark stays equal, no process has committed to the file.
package struct LinkMark: Equatable, Sendable {
    fileprivate let tag: Tag
    /// Increases with each opening, because another file may have the same header.
    fileprivate let generation: UInt64
}

extension CircuitStore {
    /// The current mark; compare it with one from before a read to learn whether what was read is still current.
    ///
    /// Nil while nothing proves that the file is unchanged: the store is degraded, closed or read-only, this process is
    /// a child of `fork`, or the header can't be mapped. Then the caller must read the file each time. Takes no lock,
    /// makes no system call, and may be called from any thread.
    package func changeMark() -> LinkMark? {
        guard !self.gate.isForked, let (tag, generation) = self.gate.tag() else { return nil }
        return LinkMark(tag: tag, generation: generation)
    }
}
