/// What a link says beside its file.
extension CircuitStore {
    /// Says of this file's link what people are to know; nil: nothing, for the link ends in order.
    package func note(_ note: LinkNote?) {
        let file = self.backend.file
        guard let note else { return LinkNote.remove(at: file.link) }
        note.write(at: file.link, likeDatabase: file.path)
    }

    package var linkStanding: LinkStanding { LinkStanding(at: self.backend.file) }
}
