#if PostgreSQL
import BreakerStore

/// All circuits of a file that a link joins, and the work of each turn of the link.
final class LinkedCircuits {
    /// How often the link sends a heartbeat to the server, and reads all changes there.
    private static let heartbeat: Int64 = 1_000_000
    /// After this time a turn leaves its remaining circuits to the next turn.
    private static let longestTurn: Int64 = 300_000
    /// The most steps of one circuit in a turn; further steps wait for the next turn.
    static let maxSteps = 12
    /// How often the link deletes rows at the server that no host needs any longer.
    private static let sweepTime: Int64 = 3_600_000_000

    let store: CircuitStore
    private let settings: CircuitLink.Settings
    let publish: ((FleetNews) -> Void)?
    private let started = ContinuousClock.now

    /// Something that the server, or the file, refuses to the link.
    struct Trouble: Hashable {
        /// A predicate for people, to follow "the link" or its name.
        var text: String
        var code: FleetError.Code
    }

    /// The circuits of the file, as last read.
    private var files: ByName<LinkedCircuit> { self.file.circuits }
    var file: LinkedFile
    var links = ByName<CircuitLink>()
    var mirror = FailureMirror()

    /// The transaction from which on the next heartbeat reads changed registers; nil for all registers.
    private var changedSince: String?
    /// Circuits whose registers are damaged; the link reads them again with the next heartbeat.
    private var unreadable: Names = []
    /// Registers with damaged commands that were logged on this connection already.
    var reportedDamage: Names = []
    private var lastBeat: Int64 = .min
    /// Whether the link must delete the rows that an earlier connection has pushed.
    private var mustForgetPushed = true
    private var nextSweep = Int64.random(in: 60_000_000...600_000_000)
    /// What is refused to this link, which continues with all else; sent with the next heartbeat.
    private(set) var trouble: Trouble?
    /// The trouble of the current turn.
    var newTrouble: Trouble?
    /// Circuits for which the last turn had no time.
    private var postponed: Names = []
    private var publishedRules: ByName<String>?
    /// The time of the whole read that `publishedRules` come from.
    private var rulesReadAt: Int64?
    /// The epochs of the circuits that this host has opened by its own rules, as last published.
    private(set) var publishedTrips: ByName<Epoch>?
    /// Circuits whose own trip has begun or ended, which their histories at the server may not have yet.
    var unrecorded: Names = []
    var serverClock = ServerClock()
    private let session = Int64.random(in: 1...Int64.max)

    init(
        _ store: CircuitStore, matching pattern: String, _ settings: CircuitLink.Settings,
        publish: ((FleetNews) -> Void)? = nil
    ) {
        self.store = store
        self.publish = publish
        self.file = LinkedFile(store, matching: pattern)
        self.settings = settings
    }

    var now: Int64 { self.started.duration(to: .now).saturatingMicroseconds }

    /// How long the link may wait if neither the file nor the server changes.
    var timeUntilNextStep: Duration {
        let now = self.now
        let next = self.links.values.compactMap(\.wakesAt).min() ?? .max
        return .microseconds(
            max(0, min(next, self.lastBeat.addingSaturating(Self.heartbeat)).subtractingSaturating(now)))
    }

    /// Whether the file was read a short time ago; else the link neither pushes nor decides anything.
    var isFileFresh: Bool { self.file.isFresh(at: self.now) }

    /// Forgets all circuits, which would be out of date after another link has worked.
    func forget() {
        self.links = ByName()
        self.file.forget()
    }

    /// Begins a new connection: the server may have lost rows of this host.
    func connected() {
        for name in self.links.keys { self.links[name]?.reconnected() }
        self.mirror = FailureMirror()
        self.changedSince = nil
        self.reportedDamage = []
        self.lastBeat = .min
        self.serverClock = ServerClock()
        self.mustForgetPushed = true
        self.publishedRules = nil
        self.rulesReadAt = nil
        self.publishedTrips = nil
    }

    // MARK: - A turn

    /// Sends changes of the file to the server, and applies changes at the server to the file.
    func synchronize(with registers: Registers) throws(FleetError) {
        let isBeat = self.now.subtractingSaturating(self.lastBeat) >= Self.heartbeat
        let woken = self.woken
        let changed = self.refresh(isForced: isBeat || !woken.isEmpty)
        // Before the first read of the file, the link does not know the number by which the server identifies the host.
        guard self.file.number != nil else {
            self.lastBeat = self.now
            return
        }
        self.newTrouble = nil
        // A heartbeat tries everything again.
        defer { if isBeat || self.newTrouble != nil { self.trouble = self.newTrouble } }
        if isBeat {
            self.unreadable = []
            try self.beat(registers)
            self.newTrouble = self.unsentCommands
        }
        let all = Names(self.links.keys)
        let notified = registers.changed(by: registers.connection.drainNotifications())?.intersection(all) ?? all
        try self.read(registers, notified)
        let concerned = isBeat ? all : changed.union(notified).union(woken).union(self.postponed)
        // A link whose read of the file is old must decide nothing; the host relies on its own file.
        guard !concerned.isEmpty, self.isFileFresh else { return }
        var counts = ByName<Count>()
        do throws(FleetError) {
            counts = try self.push(registers, of: concerned, isBeat: isBeat)
        } catch {
            // A link without the right to push failures still obeys.
            guard registers.connection.isOpen, error.code == .refused else { throw error }
            self.newTrouble = Trouble(text: "can't send its failures: \(error.message)", code: error.code)
        }
        try self.takeSteps(concerned, counts, registers)
        if isBeat { try self.recordOwnTrips(at: registers) }
    }

    /// Takes steps for a short time, so that heartbeats and rights to probe never wait for long.
    private func takeSteps(_ names: Names, _ counts: ByName<Count>, _ registers: Registers) throws(FleetError) {
        let end = self.now + Self.longestTurn
        self.postponed = names
        for name in names.sorted() where self.now < end {
            try self.takeSteps(name, counts[name], registers)
            self.postponed.remove(name)
        }
    }

    /// The circuits whose state machines asked to be called again by now.
    private var woken: [String] {
        let now = self.now
        return self.links.compactMap { name, link in link.wakesAt.map { $0 <= now } ?? false ? name : nil }
    }

    /// Reads the file if it has changed; returns the circuits that have changed.
    private func refresh(isForced: Bool) -> Names {
        let number = self.file.number
        guard let changed = self.file.refresh(isForced: isForced, at: self.now) else { return [] }
        if self.file.number != number {
            // Another file has taken the store's place: the server still has the previous file's rows.
            self.mustForgetPushed = true
            self.mirror = FailureMirror()
            self.lastBeat = .min
        }
        for name in self.links.keys where self.files[name] == nil { self.links[name] = nil }
        for name in self.files.keys where self.links[name] == nil { self.links[name] = CircuitLink(self.settings) }
        return changed
    }

    /// The file's number, by which the server identifies this host.
    private var fileNumber: String { String(self.file.number ?? 0) }

    /// This link, as its heartbeat describes it.
    private var link: Registers.Link {
        Registers.Link(
            session: self.session, file: self.fileNumber, place: self.store.linkPlace,
            program: self.store.linkProgram, trouble: self.trouble?.text)
    }

    private var ruleDescriptions: ByName<String> {
        var rules = ByName<String>()
        for (name, file) in self.files { rules[name] = file.ruleDescription }
        return rules
    }

    private func beat(_ registers: Registers) throws(FleetError) {
        // Rules seldom change, and their descriptions cost more than all else of a heartbeat.
        let rules = self.file.wholeAt == self.rulesReadAt ? self.publishedRules : self.ruleDescriptions
        let sent = self.now
        let tripped = self.files.values.filter { $0.ownTrip != nil }
        var epochs = ByName<Epoch>()
        for file in tripped { epochs[file.name] = file.epoch }
        let ownTrips = tripped.compactMap { self.file.circuit($0.name, at: sent)?.ownTrip }
        let reportedTrips =
            if let published = self.publishedTrips { Names(published.keys) } else { try registers.reportedOwnTrips() }
        let reading = try registers.beat(
            self.link, rules: rules == self.publishedRules ? nil : rules,
            ownTrips: epochs == self.publishedTrips ? nil : ownTrips, reading: Names(self.links.keys),
            changedSince: self.changedSince)
        self.noteOwnTrips(ownTrips, before: reportedTrips)
        // An operator may have made the fleet forget this host while the host hung: then its new row has nothing yet.
        let isKnown = !reading.isNewHost || self.publishedTrips == nil
        self.publishedTrips = isKnown ? epochs : nil
        (self.publishedRules, self.rulesReadAt) = isKnown ? (rules, self.file.wholeAt) : (nil, nil)
        self.lastBeat = self.now
        self.serverClock.answered(reading.time, to: sent)
        self.changedSince = reading.seen
        if self.mustForgetPushed { try registers.forgetPushed(by: self.link) }
        self.mustForgetPushed = false
        try self.learn(reading.registers, registers)
        for name in reading.damaged { self.links[name]?.setNeedsRead() }
        if self.now > self.nextSweep {
            self.nextSweep = self.now + Self.sweepTime
            let windows = self.files.values.map(\.longestWindow)
            try registers.sweep(
                having: Names(self.links.keys), longestWindow: windows.max() ?? 0,
                // Each link marks the circuits of its host as used only once an hour.
                forgetIdleAfter: self.store.forgetIdleTime.map { max($0, 3 * Self.sweepTime) })
        }
    }

    /// Reads the registers that other links have changed, and those that this link must read again.
    private func read(_ registers: Registers, _ notified: Names) throws(FleetError) {
        let unknown = self.links.compactMap { name, link in link.needsRead ? name : nil }
        let wanted = notified.union(unknown).subtracting(self.unreadable)
        guard !wanted.isEmpty else { return }
        var found = try registers.read(wanted).registers
        let missing = wanted.subtracting(found.map(\.name))
        if !missing.isEmpty {
            for name in try registers.deleteDamaged(missing.sorted()) { self.publish?(FleetNews(ofDamage: name)) }
            // The server has lost a register that this link knows.
            for name in missing.sorted() {
                guard let offer = self.links[name]?.offer(to: nil, at: self.now) else { continue }
                _ = try registers.perform(offer, on: name)
            }
            try registers.insertMissing(missing.sorted())
            found += try registers.read(missing).registers
            self.unreadable = self.unreadable.union(missing.subtracting(found.map(\.name)))
        }
        try self.learn(found, registers)
    }

    private func learn(_ found: [Register], _ registers: Registers) throws(FleetError) {
        for var register in found {
            if let offer = self.links[register.name]?.offer(to: register, at: self.now),
                case .accepted = try registers.perform(offer, on: register.name)
            {
                register = try registers.read([register.name]).registers.first ?? register
            }
            self.links[register.name]?.learn(register, at: self.now)
            if register.state == .open { self.mirror.forget(register.name) }
            self.reportDamage(of: register)
        }
    }

    // MARK: - Counting

    /// Pushes the mirror's changes; returns the counts of all hosts.
    private func push(_ registers: Registers, of names: Names, isBeat: Bool) throws(FleetError) -> ByName<Count> {
        // As of now: the server takes the ages off its own time.
        let files = names.compactMap { self.file.circuit($0, at: self.now) }.filter { file in
            // Failures of an open register do not count, and an observing circuit concerns its own host alone. A file
            // that the fleet opened still has the failures of before, and has yet to obey the register that has closed.
            !file.isObserving && self.links[file.name]?.register?.state == .closed
                && (file.state == .closed || file.isOwnTrip)
        }
        let changes = self.mirror.changes(in: files, isBeat: isBeat)
        try registers.push(new: changes.new, gone: changes.gone, of: self.fileNumber)
        if !changes.sums.isEmpty { try registers.push(sums: changes.sums, of: self.fileNumber) }
        self.mirror.apply(changes, of: files)
        let counted = files.filter { $0.hasBadCalls && (isBeat || changes.names.contains($0.name)) }
        // Circuits whose registers other links have just changed are left to the next turn, which first reads those.
        let notified = registers.changed(by: registers.connection.notifications) ?? Names(counted.map(\.name))
        let wanted = counted.filter { !notified.contains($0.name) }
        let counts = try registers.count(wanted.map(\.wanted))
        // A register without a count is no longer closed, or was deleted.
        for file in wanted where counts[file.name] == nil { self.links[file.name]?.setNeedsRead() }
        return counts
    }

    /// Deletes the rows of this host at the server.
    func leave(_ registers: Registers) throws(FleetError) {
        try registers.forgetPushed(by: self.link)
        try registers.leave(self.link)
    }
}
#endif
