@testable import BreakerStore

/// A few processes that share one circuit in a file that is lost and created again: the real `Restoration` and the real
/// `Circuit`, and around them as little as can be of what `StoreCore` and `Transaction` do.
///
/// Each event takes a microsecond.
struct LostFileWorld {
    enum Event: Hashable {
        case held, released, reset, tripped
        /// The file at the path is removed.
        case removed
        case minutePasses
        /// A process opens the file at the path, and creates it if there is none.
        case starts(Int)
        /// A process looks at the path, and opens the file there if it is not the one that it has open.
        case looks(Int)
        case isKilled(Int)
        case stops(Int)
        case goesOn(Int)
    }

    /// A wrong line, planted to be noticed.
    enum Plant: CaseIterable {
        case commandsForgotten, filesOrderedByNobody, nothingNoted, youngFilesBelieved
    }

    private struct File {
        let createdAt: Int64
        var circuit: Circuit
        var isCommanded = false
        var noted: Restoration.Noted?
        /// Whether the newest command was given in it, or restored in it by a process that knew of it.
        var hasNewest = false
    }

    private struct Process {
        var isStopped = false
        /// The incarnation that it has open; nil while the process does not run.
        var file: Int?
        var lastInPlace: Int64 = 0
        /// Whether it has open a file that has the newest command.
        var knowsNewest = false
    }

    private static let rules = Rules(CircuitBreaker.Config(name: "a", trip: .failures(1, within: .seconds(60))))

    private let plant: Plant?
    private var now: Int64 = 1
    private var files: [File] = []
    /// The number of the file at the path.
    private var current: Int?
    private var processes: [Process]
    /// Whether the newest command was a hold.
    private var isHeld = false
    private(set) var broken: String?

    init(processes: Int, plant: Plant? = nil) {
        self.processes = Array(repeating: Process(), count: processes)
        self.plant = plant
    }

    private var time: StoreTime { StoreTime(microseconds: self.now) }

    var events: [Event] {
        var events: [Event] = [.minutePasses]
        if let current {
            events += [.removed, .reset]
            let circuit = self.files[current].circuit
            events.append(circuit.hold == nil ? .held : .released)
            if circuit.hold == nil, circuit.state == .closed { events.append(.tripped) }
        }
        for (number, process) in self.processes.enumerated() {
            guard process.file != nil else {
                events.append(.starts(number))
                continue
            }
            events += [.isKilled(number), process.isStopped ? .goesOn(number) : .stops(number)]
            if !process.isStopped { events.append(.looks(number)) }
        }
        return events
    }

    mutating func happen(_ event: Event) {
        self.now += 1
        switch event {
        case .held: self.command { $0.held(.open, for: nil, by: nil, reason: nil, at: $1) }
        case .released: self.command { _ = $0.released(at: $1, reason: nil) }
        case .reset: self.command { $0.reset(at: $1, reason: nil) }
        case .tripped:
            guard let current else { return }
            self.files[current].circuit.enter(.open(until: self.time.adding(1 << 40)), at: self.time)
        case .removed: self.current = nil
        case .minutePasses:
            self.now += Restoration.time
            guard let current else { return }
            // Who has not come to the file by now comes too late.
            for number in self.processes.indices where self.processes[number].file != current {
                self.processes[number].knowsNewest = false
            }
        case .starts(let number):
            self.processes[number] = Process()
            self.opens(number, knowing: nil)
        case .looks(let number): self.looks(number)
        case .isKilled(let number): self.processes[number] = Process()
        case .stops(let number): self.processes[number].isStopped = true
        case .goesOn(let number): self.processes[number].isStopped = false
        }
        self.check(event)
    }

    private mutating func command(_ change: (inout Circuit, StoreTime) -> Void) {
        guard let current else { return }
        change(&self.files[current].circuit, self.time)
        self.files[current].isCommanded = true
        self.files[current].hasNewest = true
        self.isHeld = self.files[current].circuit.hold != nil
        for number in self.processes.indices {
            self.processes[number].knowsNewest = self.processes[number].file == current
        }
    }

    private mutating func looks(_ number: Int) {
        let process = self.processes[number]
        if let file = process.file, file == self.current {
            self.processes[number].lastInPlace = self.now
        } else {
            self.opens(number, knowing: process.file)
        }
    }

    /// As `StoreCore.reopen` does.
    private mutating func opens(_ number: Int, knowing old: Int?) {
        var known: (circuit: Circuit, origin: LostFile.Origin)?
        if let old {
            let (circuit, origin) = (self.files[old].circuit, self.origin(old, number))
            if origin.seenAt != .min || circuit.windowGeneration > 1 { known = (circuit, origin) }
        }
        let file = self.current ?? self.files.count
        if self.current == nil {
            self.files.append(File(createdAt: self.now, circuit: Circuit(rules: Self.rules, at: self.time)))
            self.current = file
        }
        if let known, let old { self.restore(known.circuit, of: old, known.origin, by: number, in: file) }
        self.processes[number].file = file
        self.processes[number].lastInPlace = self.now
        self.processes[number].knowsNewest = self.files[file].hasNewest
    }

    /// As `Database.origin` does.
    private func origin(_ file: Int, _ process: Int) -> LostFile.Origin {
        let found = self.files[file]
        let lastInPlace = self.processes[process].lastInPlace
        let own = LostFile.Origin(
            incarnation: Int64(file), seenAt: Uptime(microseconds: lastInPlace), epoch: found.circuit.epoch)
        let isYoung = lastInPlace - found.createdAt <= Restoration.time
        guard isYoung, !found.isCommanded, self.plant != .youngFilesBelieved else { return own }
        guard let noted = found.noted else {
            return LostFile.Origin(incarnation: Int64(file), seenAt: .min, epoch: own.epoch)
        }
        return LostFile.Origin(incarnation: noted.incarnation, seenAt: noted.seenAt, epoch: noted.epoch)
    }

    private mutating func restore(
        _ lost: Circuit, of incarnation: Int, _ origin: LostFile.Origin, by number: Int, in place: Int
    ) {
        let process = self.processes[number]
        let new = Restoration.NewFile(
            incarnation: Int64(place), createdAt: Uptime(microseconds: self.files[place].createdAt))
        let decision = Restoration.decide(
            incarnation: Int64(incarnation), lastInPlace: Uptime(microseconds: process.lastInPlace),
            lacksOnlyLog: false, new,
            at: Uptime(microseconds: self.now))
        guard decision == .restore else { return }
        var known = Restoration.Known(
            incarnation: origin.incarnation, seenAt: origin.seenAt, epoch: origin.epoch, isHeld: lost.hold != nil,
            isOpen: lost.state != .closed)
        if self.plant == .filesOrderedByNobody { known.seenAt = .max }
        let here = Restoration.Here(
            epoch: self.files[place].circuit.epoch, isNew: self.files[place].circuit.windowGeneration == 1,
            isCommanded: self.files[place].isCommanded && self.plant != .commandsForgotten,
            noted: self.files[place].noted)
        let what = Restoration.decide(known, in: here)
        if process.knowsNewest { self.files[place].hasNewest = true }
        switch what {
        case .leave: return
        case .note: break
        case .restore, .restoreHold:
            let from = self.files[place].circuit.word
            if what == .restore {
                self.files[place].circuit.restored(lost.state == .closed ? nil : lost, at: self.time)
            }
            self.files[place].circuit.restored(lost.hold, from: from, reason: "", at: self.time)
        }
        guard self.plant != .nothingNoted else { return }
        self.files[place].noted = Restoration.Noted(
            incarnation: origin.incarnation, seenAt: origin.seenAt, epoch: origin.epoch,
            epochHere: self.files[place].circuit.epoch, isHoldRestored: lost.hold != nil,
            isOpenRestored: what == .restore && known.isOpen
        )
    }

    private mutating func check(_ event: Event) {
        guard self.broken == nil, let current, self.files[current].hasNewest else { return }
        if (self.files[current].circuit.hold != nil) != self.isHeld {
            self.broken =
                self.isHeld
                ? "a hold is lost that a living process knew of" : "a hold is there against a later command"
        }
    }

    /// What tells one state from another: times and epochs by their order, and whether a minute lies between.
    var key: [Int] {
        var times = self.processes.map(\.lastInPlace)
        let open = Set(self.processes.compactMap(\.file) + [self.current].compactMap(\.self)).sorted()
        for number in open {
            let file = self.files[number]
            times.append(file.createdAt)
            times += [file.circuit.epoch, file.noted?.epoch ?? 0, file.noted?.epochHere ?? 0].map(\.rawValue)
            times += [file.noted?.seenAt.microseconds ?? 0, file.noted?.incarnation ?? 0]
        }
        let order = Set(times).sorted()
        func rank(_ time: Int64) -> Int { order.firstIndex(of: time) ?? 0 }
        func place(_ file: Int?) -> Int { file.flatMap(open.firstIndex) ?? -1 }
        var key = [self.isHeld ? 1 : 0, place(self.current)]
        for process in self.processes {
            key += [process.isStopped ? 1 : 0, place(process.file), rank(process.lastInPlace)]
            key.append(process.knowsNewest ? 1 : 0)
            let age = process.file.map { process.lastInPlace - self.files[$0].createdAt } ?? 0
            key.append(age <= Restoration.time ? 1 : 0)
        }
        for number in open {
            let file = self.files[number]
            key += [rank(file.createdAt), self.now - file.createdAt <= Restoration.time ? 1 : 0]
            key += [
                rank(file.circuit.epoch.rawValue), file.circuit.windowGeneration == 1 ? 1 : 0,
                file.circuit.hold == nil ? 0 : 1,
            ]
            key += [file.circuit.state == .closed ? 0 : 1, file.isCommanded ? 1 : 0, file.hasNewest ? 1 : 0]
            guard let noted = file.noted else { continue }
            key += [rank(noted.incarnation), rank(noted.epoch.rawValue), rank(noted.epochHere.rawValue)]
            key.append(rank(noted.seenAt.microseconds))
            key.append(noted.isRestored ? 1 : 0)
        }
        return key
    }
}
