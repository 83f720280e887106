/// The gates of this process's stores on one file, which are all open or all shut.
struct Gates {
    /// The header with which cached decisions are compared.
    struct Header {
        let mapping: HeaderMapping
        let generation: UInt64
    }

    private var gates: [Gate] = []
    private var header: Header?
    private var areOpen = false

    /// Sets the header of a file that was just opened, while the gates are shut.
    ///
    /// - Parameter header: nil if no decision may be cached: then every gate stays shut.
    mutating func setHeader(_ header: Header?) { self.header = header }

    /// Any of the gates, for a read that no store has asked for; nil without a store.
    var first: Gate? { self.gates.first }

    mutating func add(_ gate: Gate) {
        self.gates.append(gate)
        if self.areOpen { self.open(gate) }
    }

    mutating func remove(_ gate: Gate) {
        self.gates.removeAll { $0 === gate }
        gate.shut()
    }

    /// Opens or shuts all gates.
    mutating func setOpen(_ isOpen: Bool) {
        guard isOpen != self.areOpen else { return }
        self.areOpen = isOpen
        for gate in self.gates { if isOpen { self.open(gate) } else { gate.shut() } }
    }

    private func open(_ gate: Gate) {
        if let header { gate.open(to: header.mapping, generation: header.generation) }
    }
}
