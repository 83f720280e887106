/// What a process knows of a file of its store that was lost: removed, replaced, damaged, or without its log.
struct LostFile: Sendable {
    /// The file, and the circuit's epoch in it, from which a circuit's state comes.
    struct Origin: Sendable {
        var incarnation: Int64
        /// The uptime at which a worker last saw that file in its place.
        ///
        /// `Int64.min`: any other worker's knowledge wins, whichever file that worker has lost.
        var seenAt: Int64
        /// The circuit's epoch in that file.
        var epoch: Int64
    }

    struct KnownCircuit: Sendable {
        let origin: Origin
        /// The circuit's epoch in the lost file itself.
        let epoch: Int64
        /// The circuit, with uptimes as its stamps; nil if it was closed and not held.
        let unusual: Boxed<Circuit>?
        /// The uptime at which this process last read the row, if it could not be read when the file was lost.
        ///
        /// Nil: this is the row as it was when the file was lost.
        let readAt: Int64?
    }

    /// The lost file's incarnation (`clock.incarnation`).
    let incarnation: Int64
    /// The uptime at which this process last saw the file in its place.
    let lastInPlace: Int64
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
    init(_ circuit: Circuit, offset: Int64, _ origin: LostFile.Origin, readAt: Int64? = nil) {
        let isUsual = circuit.state == .closed && circuit.hold == nil
        self.origin = origin
        self.epoch = circuit.epoch
        self.unusual = isUsual ? nil : .value(circuit.shifted(by: Int64(0).subtractingSaturating(offset)))
        self.readAt = readAt
    }
}
