/// Decides what of a worker's knowledge of a lost file is restored in the file that has replaced it.
///
/// Pure functions. `RestorationTests` has a row for each pair of what the worker knows and what the file has.
enum Restoration {
    /// For how many microseconds after a file's creation state of lost files is restored in it.
    static let time: Int64 = 60_000_000

    /// The file in the place of the lost one.
    struct NewFile: Hashable {
        var incarnation: Int64
        /// The uptime at which it was created; nil if an older release has created it.
        var createdAt: Uptime?
        /// Whether it was created at the path at which it is now.
        var isAtItsPlace = true
        /// The incarnation of the lost file that it replaces, as recorded by the first worker that knew of one.
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

    /// Decides about the file at the path, which replaces the lost file only if it was created later.
    ///
    /// Later means: after this process last saw the lost file in its place. The file must also have been created at
    /// this path, or record the lost file as the one that it replaces: containers may have other names for the same
    /// directory. Which worker created it does not matter.
    ///
    /// - Parameter uptime: now.
    static func decide(
        incarnation: Int64, lastInPlace: Uptime, lacksOnlyLog: Bool, _ file: NewFile, at uptime: Uptime
    ) -> OfFile {
        if file.incarnation == incarnation { return lacksOnlyLog ? .resume : .leave }
        guard let createdAt = file.createdAt, (lastInPlace...max(lastInPlace, uptime)).contains(createdAt),
            file.isAtItsPlace || file.replaced == incarnation
        else { return .leave }
        return uptime.microseconds(since: createdAt) <= Self.time ? .restore : .report
    }

    /// What a worker knows of a circuit in the lost file.
    struct Known: Hashable {
        var incarnation: Int64
        /// The uptime at which the worker last saw the lost file in its place.
        var seenAt: Uptime = 0
        var epoch: Epoch
        var isHeld = false
        /// Whether it was open or half-open when the file was lost, by the file's rows.
        ///
        /// In the same file without its log (`decideResumed`) also by a last reading: epochs decide which is later.
        var isOpen = false
        /// Whether it was open or half-open when the process last read it, which may be over by now.
        ///
        /// Only used if the rows could not be read any more.
        var wasOpen = false
    }

    /// The circuit in the new file, where it is registered.
    struct Here: Hashable {
        var epoch: Epoch
        /// Whether it has had no transition here: a process has only registered it.
        var isNew: Bool
        /// Whether an operator or the fleet has given a command here, though it may have changed nothing.
        var isCommanded = false
        /// What a worker has recorded before about the circuit in a lost file.
        var noted: Noted?
    }

    /// What a worker has recorded about the circuit in a lost file: its row of the table `predecessor`.
    struct Noted: Hashable {
        var incarnation: Int64
        /// The uptime at which that worker last saw the lost file in its place.
        var seenAt: Uptime = 0
        var epoch: Epoch
        /// The circuit's epoch here just afterwards.
        var epochHere: Epoch
        var isHoldRestored = false
        var isOpenRestored = false

        var isRestored: Bool { self.isHoldRestored || self.isOpenRestored }
    }

    enum OfCircuit: Hashable {
        /// Restores the hold and the state of the lost file, and records that.
        case restore
        /// Restores only the hold, or its absence: the state here is newer, or this worker does not know the state.
        case restoreHold
        /// Only records what the worker knows, so that workers that know something older change nothing.
        case note
        case leave
    }

    /// Decides about a circuit in a file that replaces the lost one.
    ///
    /// Epochs are compared only within one incarnation, because another file has another clock. Of two lost files, the
    /// one that was seen in its place later is the later one.
    static func decide(_ known: Known, in here: Here) -> OfCircuit {
        if here.isCommanded { return .leave }
        if let noted = here.noted {
            let isSameFile = noted.incarnation == known.incarnation
            guard isSameFile ? noted.epoch < known.epoch : noted.seenAt < known.seenAt else { return .leave }
        }
        let isUnchanged = here.noted.map { $0.epochHere == here.epoch } ?? here.isNew
        guard isUnchanged else { return known.isHeld ? .restoreHold : .note }
        // This worker does not know whether the circuit is still open, so a state that another worker restored stays,
        // open or closed.
        if known.wasOpen, here.noted?.isRestored == true { return .restoreHold }
        return known.isHeld || known.isOpen || here.noted?.isRestored == true ? .restore : .note
    }

    /// Decides about a circuit in the same file without its log: there, a higher epoch is a later state.
    ///
    /// A circuit that only the log had is registered again. Its later epoch says nothing about its state.
    static func decideResumed(_ known: Known, in here: Here) -> OfCircuit {
        if here.isCommanded { return .leave }
        let isRecreated = here.isNew && (known.isHeld || known.isOpen)
        return isRecreated || here.epoch < known.epoch ? .restore : .leave
    }
}
