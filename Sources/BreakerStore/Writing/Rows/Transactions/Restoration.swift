/// Decides what becomes of a worker's knowledge of a lost file, now that another file is in its place.
///
/// `RestorationTests` has a row for each pair of what the worker knows and what the file has.
enum Restoration {
    /// For how many microseconds after its creation a file is given what lost files said.
    static let time: Int64 = 60_000_000

    /// The file in the place of the lost one.
    struct NewFile: Hashable {
        var incarnation: Int64
        /// The uptime at which it was created; nil if an older release has created it.
        var createdAt: Int64?
        /// Whether it was created at the path where it is.
        var isAtItsPlace = true
        /// The lost file that it replaces, by the word of the first worker that knew of one.
        var replaced: Int64?
    }

    enum OfFile: Hashable {
        /// The file was created in place of the lost one, just now.
        case restore
        /// It is the same file without its log: its rows may be older than the ones that were lost.
        case resume
        /// The file was created in place of the lost one, and too long ago.
        case report
        /// It is the same file, a backup of it, or a store that existed before the loss.
        case leave
    }

    /// A file that was created at the store's path after the lost file was last seen there is in that file's place.
    ///
    /// It must have been created at this path, or record the lost file as the one that it replaces: containers may have
    /// other names for the same directory. Which worker created it does not matter.
    ///
    /// - Parameter uptime: now.
    static func decide(
        incarnation: Int64, lastInPlace: Int64, lacksOnlyLog: Bool, _ file: NewFile, at uptime: Int64
    ) -> OfFile {
        if file.incarnation == incarnation { return lacksOnlyLog ? .resume : .leave }
        guard let createdAt = file.createdAt, (lastInPlace...max(lastInPlace, uptime)).contains(createdAt),
            file.isAtItsPlace || file.replaced == incarnation
        else { return .leave }
        return uptime.subtractingSaturating(createdAt) <= Self.time ? .restore : .report
    }

    /// What a worker knows of a circuit in the lost file.
    struct Known: Hashable {
        var incarnation: Int64
        /// The uptime at which the worker last saw the lost file in its place.
        var seenAt: Int64 = 0
        var epoch: Int64
        var isHeld = false
        /// Open or half-open, by the file's rows: what a process has read some time before may be over.
        var isOpen = false
        /// Open or half-open when the process last read it, some time before.
        var wasOpen = false
    }

    /// The circuit in the new file, where it is registered.
    struct Here: Hashable {
        var epoch: Int64
        /// Whether nothing has ever happened to it here: a process has only registered it.
        var isNew: Bool
        /// Whether an operator or the fleet has given a command here, though it may have changed nothing.
        var isCommanded = false
        /// What a worker has noted before.
        var noted: Noted?
    }

    struct Noted: Hashable {
        var incarnation: Int64
        var seenAt: Int64 = 0
        var epoch: Int64
        /// The circuit's epoch here just afterwards.
        var epochHere: Int64
        /// Whether a hold or an open state was restored.
        var isRestored = false
    }

    enum OfCircuit: Hashable {
        /// Makes the circuit what the lost file said, and notes it.
        case restore
        /// The same for the hold or its end alone: the state here is newer, or this worker does not know the state.
        case restoreHold
        /// Notes that there is nothing to restore, for workers that know something older.
        case note
        case leave
    }

    /// Decides what a worker does with what it knows of a circuit.
    ///
    /// Epochs are compared only within one incarnation, because another file has another clock. Of two lost files, the
    /// one that had the place later is the later one.
    static func decide(_ known: Known, _ here: Here) -> OfCircuit {
        if here.isCommanded { return .leave }
        if let noted = here.noted {
            let isSameFile = noted.incarnation == known.incarnation
            guard isSameFile ? noted.epoch < known.epoch : noted.seenAt < known.seenAt else { return .leave }
        }
        let isUnchanged = here.noted.map { $0.epochHere == here.epoch } ?? here.isNew
        guard isUnchanged else { return known.isHeld ? .restoreHold : .note }
        // This worker does not know whether the circuit is still open. What another worker has restored stays.
        if known.wasOpen, here.noted?.isRestored == true { return .restoreHold }
        return known.isHeld || known.isOpen || here.noted?.isRestored == true ? .restore : .note
    }

    /// The same for the same file without its log: there, a later epoch is a later state.
    ///
    /// A circuit that only the log had is registered again. Its later epoch says nothing about its state.
    static func decideResumed(_ known: Known, _ here: Here) -> OfCircuit {
        if here.isCommanded { return .leave }
        let isMadeAnew = here.isNew && (known.isHeld || known.isOpen)
        return isMadeAnew || here.epoch < known.epoch ? .restore : .leave
    }
}
