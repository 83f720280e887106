/// Writes and reads the note of this file's link.
extension CircuitStore {
    /// Writes the note of this file's link; nil removes it, when the link ends normally.
    package func note(_ note: LinkNote?) {
        let file = self.backend.file
        guard let note else { return LinkNote.remove(at: file.link) }
        note.write(at: file.link, likeDatabase: file.path)
    }

    package var linkStanding: LinkStanding { LinkStanding(at: self.backend.file) }
}
