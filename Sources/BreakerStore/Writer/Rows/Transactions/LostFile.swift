/// What a process knows of a file of its store that was lost: removed, replaced, damaged, or without its log.
struct LostFile: Sendable {
    /// The file, and the circuit's epoch in it, from which a circuit's state comes.
    ///
    /// Mostly the lost file itself. Example: file A is lost, a worker restores a hold from A in file B, and B is lost
    /// within a minute. Unless a command was given in B, the hold comes from A, with the circuit's epoch in A. So a
    /// worker that only knew A, in a later epoch, knows something newer.
    struct Origin: Sendable {
        var incarnation: Int64
        /// The uptime at which a worker last saw that file in its place.
        ///
        /// `Uptime.min`, earlier than any uptime, if another worker may know better: the row could not be read, or the
        /// file was young and no worker had recorded anything there. Then the knowledge of any other lost file wins.
        var seenAt: Uptime
        /// The circuit's epoch in that file.
        var epoch: Epoch
    }

    struct KnownCircuit: Sendable {
        let origin: Origin
        /// The circuit's epoch in the lost file itself: in the example, in B.
        ///
        /// Decides if only the log was lost, and the rows at the path may be older.
        let epoch: Epoch
        /// The circuit, with uptimes as its stamps; nil if it was closed and not held, as most circuits are.
        let unusual: Boxed<Circuit>?
        /// The uptime at which this process last read the row, if it could not be read when the file was lost.
        ///
        /// Nil: this is the row as it was when the file was lost.
        let readAt: Uptime?
    }

    /// The lost file's own incarnation (`clock.incarnation`): in the example, B's.
    let incarnation: Int64
    /// The uptime at which this process last saw the file in its place.
    let lastInPlace: Uptime
    /// Whether only the log is missing: the database is still in its place.
    let lacksOnlyLog: Bool
    /// Whether some rows could no longer be read.
    var isDamaged = false
    /// The name under which the damaged file is kept, if this process has moved it.
    var kept: String?
    var circuits: [CircuitName: KnownCircuit] = [:]
}

extension LostFile.KnownCircuit {
    /// - Parameters:
    ///   - circuit: the circuit as it was read.
    ///   - offset: store time less uptime, in the lost file.
    init(_ circuit: Circuit, offset: Int64, _ origin: LostFile.Origin, readAt: Uptime? = nil) {
        let isUsual = circuit.state == .closed && circuit.hold == nil
        self.origin = origin
        self.epoch = circuit.epoch
        self.unusual = isUsual ? nil : .value(circuit.shifted(by: Int64(0).subtractingSaturating(offset)))
        self.readAt = readAt
    }
}
