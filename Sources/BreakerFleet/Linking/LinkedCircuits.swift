#if PostgreSQL
import BreakerStore

/// All circuits of a file that a link joins, and what each turn of the link does for them.
final class LinkedCircuits {
    /// How often the link sends the server a sign of life, and reads what has changed there.
    private static let heartbeat: Int64 = 1_000_000
    /// After this time a turn leaves its other circuits to the next.
    private static let longestTurn: Int64 = 300_000
    /// The most steps of one circuit in a turn; the others wait for the next.
    static let mostSteps = 12
    /// How often the link deletes rows at the server that no host needs any more.
    private static let sweepTime: Int64 = 3_600_000_000

    let store: CircuitStore
    private let settings: CircuitLink.Settings
    let tell: ((FleetNews) -> Void)?
    private let started = ContinuousClock.now

    struct Trouble: Hashable {
        /// For people, after "the link" or its name.
        var text: String
        var code: FleetError.Code
    }

    /// The circuits of the file, as last looked at.
    private var files: ByName<LinkedCircuit> { self.file.circuits }
    var file: LookedFile
    var links = ByName<CircuitLink>()
    var mirror = FailureMirror()

    /// From this transaction on changed registers are read; nil: all.
    private var seen: String?
    /// Registers that make no sense; the link reads them again with the next heartbeat.
    private var unreadable: Names = []
    /// Registers with damaged words, which the log of this connection has already.
    var reportedDamage: Names = []
    private var lastBeat: Int64 = .min
    /// Whether the link must delete what an earlier connection has pushed.
    private var mustForgetPushed = true
    private var nextSweep = Int64.random(in: 60_000_000...600_000_000)
    /// What is refused to this link, which goes on with all else; sent with the next heartbeat.
    private(set) var trouble: Trouble?
    /// The trouble of the turn that is under way.
    var newTrouble: Trouble?
    /// Circuits for which the last turn had no time left.
    private var left: Names = []
    private var toldRules: ByName<String>?
    /// The time of the whole look that the rules come from.
    private var rulesOf: Int64?
    var serverClock = ServerClock()
    private let session = Int64.random(in: 1...Int64.max)

    init(
        _ store: CircuitStore, matching pattern: String, _ settings: CircuitLink.Settings,
        tell: ((FleetNews) -> Void)? = nil
    ) {
        self.store = store
        self.tell = tell
        self.file = LookedFile(store, matching: pattern)
        self.settings = settings
    }

    var now: Int64 { self.started.duration(to: .now).saturatingMicroseconds }

    /// How long the link may wait if neither the file nor the server changes.
    var untilNextWaking: Duration {
        let now = self.now
        let next = self.links.values.compactMap(\.wakesAt).min() ?? .max
        return .microseconds(
            max(0, min(next, self.lastBeat.addingSaturating(Self.heartbeat)).subtractingSaturating(now)))
    }

    /// Whether the file was read a short time ago; else the link neither pushes nor decides anything.
    var isFileFresh: Bool { self.file.isFresh(at: self.now) }

    /// Forgets all circuits, which grow old while another link does the work.
    func forget() {
        self.links = ByName()
        self.file.forget()
    }

    /// A new connection: the server may have lost what it had of this host.
    func connected() {
        for name in self.links.keys { self.links[name]?.reconnected() }
        self.mirror = FailureMirror()
        self.seen = nil
        self.reportedDamage = []
        self.lastBeat = .min
        self.serverClock = ServerClock()
        self.mustForgetPushed = true
        self.toldRules = nil
        self.rulesOf = nil
    }

    // MARK: - A turn

    /// Brings changes of the file to the server, and changes at the server to the file.
    func keepTogether(with registers: Registers) throws(FleetError) {
        let isBeat = self.now.subtractingSaturating(self.lastBeat) >= Self.heartbeat
        let woken = self.woken
        let changed = self.look(isForced: isBeat || !woken.isEmpty)
        // Until the first look at the file, the link does not know which host this is.
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
        let told = registers.told(by: registers.connection.takeNotifications())?.intersection(all) ?? all
        try self.read(registers, told)
        let concerned = isBeat ? all : changed.union(told).union(woken).union(self.left)
        // An old look says nothing of now: the host guards itself.
        guard !concerned.isEmpty, self.isFileFresh else { return }
        var counts = ByName<Count>()
        do throws(FleetError) {
            counts = try self.push(registers, of: concerned, isBeat: isBeat)
        } catch {
            // A link without the right to push failures still obeys.
            guard registers.connection.isOpen, error.code == .refused else { throw error }
            self.newTrouble = Trouble(text: "does not tell its failures: \(error.message)", code: error.code)
        }
        try self.decide(concerned, counts, registers)
    }

    /// Takes steps for a short time, so that heartbeats and rights to probe never wait for long.
    private func decide(_ names: Names, _ counts: ByName<Count>, _ registers: Registers) throws(FleetError) {
        let end = self.now + Self.longestTurn
        self.left = names
        for name in names.sorted() where self.now < end {
            try self.decide(name, counts[name], registers)
            self.left.remove(name)
        }
    }

    private var woken: [String] {
        let now = self.now
        return self.links.compactMap { name, link in link.wakesAt.map { $0 <= now } ?? false ? name : nil }
    }

    /// Looks at the file if it has changed; returns the circuits that have changed.
    private func look(isForced: Bool) -> Names {
        let number = self.file.number
        guard let changed = self.file.look(isForced: isForced, at: self.now) else { return [] }
        if self.file.number != number {
            // Another file has taken the place: the server still has the rows of the file before.
            self.mustForgetPushed = true
            self.mirror = FailureMirror()
            self.lastBeat = .min
        }
        for name in self.links.keys where self.files[name] == nil { self.links[name] = nil }
        for name in self.files.keys where self.links[name] == nil { self.links[name] = CircuitLink(self.settings) }
        return changed
    }

    /// The file's number, by which the server knows this host.
    private var fileNumber: String { String(self.file.number ?? 0) }

    /// This link, as the server knows it.
    private var link: Registers.Link {
        Registers.Link(
            session: self.session, file: self.fileNumber, place: self.store.linkPlace,
            program: self.store.linkProgram, trouble: self.trouble?.text)
    }

    private var rulesInWords: ByName<String> {
        var rules = ByName<String>()
        for (name, file) in self.files { rules[name] = file.ruleInWords }
        return rules
    }

    private func beat(_ registers: Registers) throws(FleetError) {
        // Rules seldom change, and putting them into words costs more than all else of a heartbeat.
        let rules = self.file.wholeAt == self.rulesOf ? self.toldRules : self.rulesInWords
        let sent = self.now
        let reading = try registers.beat(
            self.link, rules: rules == self.toldRules ? nil : rules, reading: Names(self.links.keys),
            changedSince: self.seen)
        (self.toldRules, self.rulesOf) = (rules, self.file.wholeAt)
        self.lastBeat = self.now
        self.serverClock.answered(reading.time, to: sent)
        self.seen = reading.seen
        if self.mustForgetPushed { try registers.forgetPushed(by: self.link) }
        self.mustForgetPushed = false
        try self.learn(reading.registers, registers)
        for name in reading.damaged { self.links[name]?.doubt() }
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
    private func read(_ registers: Registers, _ told: Names) throws(FleetError) {
        let unknown = self.links.compactMap { name, link in link.needsRead ? name : nil }
        let wanted = told.union(unknown).subtracting(self.unreadable)
        guard !wanted.isEmpty else { return }
        var found = try registers.read(wanted).registers
        let missing = wanted.subtracting(found.map(\.name))
        if !missing.isEmpty {
            for name in try registers.deleteDamaged(missing.sorted()) { self.tell?(FleetNews(ofDamage: name)) }
            // A register that this link knows and the server lacks was lost there.
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
        let files = names.compactMap { self.files[$0] }.filter { file in
            // Failures of an open register do not count, and an observing circuit concerns its own host alone.
            !file.isObserving && self.links[file.name]?.register?.state == .closed
        }
        let changes = self.mirror.changes(in: files, isBeat: isBeat)
        try registers.push(new: changes.new, gone: changes.gone, of: self.fileNumber)
        if !changes.sums.isEmpty { try registers.push(sums: changes.sums, of: self.fileNumber) }
        self.mirror.apply(changes, of: files)
        let counted = files.filter { $0.hasBadCalls && (isBeat || changes.names.contains($0.name)) }
        // Registers that other links have just changed are read before they are counted: they may be open.
        let told = registers.told(by: registers.connection.notifications) ?? Names(counted.map(\.name))
        let wanted = counted.filter { !told.contains($0.name) }
        let counts = try registers.count(wanted.map(\.wanted))
        // A register without a count is no longer closed, or was deleted.
        for file in wanted where counts[file.name] == nil { self.links[file.name]?.doubt() }
        return counts
    }

    /// Deletes the rows of this host at the server.
    func leave(_ registers: Registers) throws(FleetError) {
        try registers.forgetPushed(by: self.link)
        try registers.leave(self.link)
    }
}
#endif
