#if PostgreSQL
import BreakerStore

/// All circuits of a file that a link joins, and what each turn of the link does for them.
final class LinkedCircuits {
    /// How often the server is told that this host is there, and asked what has changed.
    private static let heartbeat: Int64 = 1_000_000
    /// What a turn has not come to by then waits for the next one.
    private static let longestTurn: Int64 = 300_000
    /// More steps of one circuit in one turn wait for the next turn.
    static let mostSteps = 12
    /// How often what nobody needs any more is deleted at the server.
    private static let sweepTime: Int64 = 3_600_000_000

    let store: CircuitStore
    private let settings: CircuitLink.Settings
    let tell: ((FleetNews) -> Void)?
    private let started = ContinuousClock.now

    struct Trouble: Hashable {
        /// For people, after the name of the link.
        var text: String
        var code: FleetError.Code
    }

    /// The file, as it was looked at last.
    private var files: ByName<LinkedCircuit> { self.file.circuits }
    var file: LookedFile
    var links = ByName<CircuitLink>()
    var mirror = FailureMirror()

    /// From where on registers are read that have changed; nil: all.
    private var seen: String?
    /// Registers that make no sense; they are read again with the next heartbeat.
    private var unreadable: Names = []
    private var lastBeat: Int64 = .min
    /// Whether what an earlier connection has told is to be deleted.
    private var mustForgetPushed = true
    private var nextSweep = Int64.random(in: 60_000_000...600_000_000)
    /// What is refused to this link, which goes on with all else; told with the next heartbeat.
    private(set) var trouble: Trouble?
    /// The same of the turn that is under way.
    var newTrouble: Trouble?
    /// Circuits for which a turn had no time left.
    private var left: Names = []
    private var toldRules: ByName<String>?
    /// The whole look that the rules were taken from.
    private var rulesOf: Int64?
    /// How far the server's clock is ahead of this link's.
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

    /// How long nothing needs to be done, if neither the file nor the server says something.
    var untilNextWaking: Duration {
        let now = self.now
        let next = self.links.values.compactMap(\.wakesAt).min() ?? .max
        return .microseconds(
            max(0, min(next, self.lastBeat.addingSaturating(Self.heartbeat)).subtractingSaturating(now)))
    }

    /// Whether the file was read a short time ago: nothing is told or obeyed without that.
    var seeTheirFile: Bool { self.file.isFresh(at: self.now) }

    /// Another link does the work: what this one knows grows old.
    func forget() {
        self.links = ByName()
        self.file.forget()
    }

    /// A new connection: what the server has of this host may be lost.
    func connected() {
        for name in self.links.keys { self.links[name]?.reconnected() }
        self.mirror = FailureMirror()
        self.seen = nil
        self.lastBeat = .min
        self.serverClock = ServerClock()
        self.mustForgetPushed = true
        self.toldRules = nil
        self.rulesOf = nil
    }

    // MARK: - A turn

    /// Tells the server what is new in the file, and the file what is new at the server.
    func keepTogether(with registers: Registers) throws(FleetError) {
        let isBeat = self.now.subtractingSaturating(self.lastBeat) >= Self.heartbeat
        let woken = self.woken
        let changed = self.look(isForced: isBeat || !woken.isEmpty)
        // Before the file was read once nobody knows which host this is.
        guard self.file.number != nil else {
            self.lastBeat = self.now
            return
        }
        self.newTrouble = nil
        // With a heartbeat all is tried again.
        defer { if isBeat || self.newTrouble != nil { self.trouble = self.newTrouble } }
        if isBeat {
            self.unreadable = []
            try self.beat(registers)
        }
        let all = Names(self.links.keys)
        let told = registers.told(by: registers.connection.takeNotifications())?.intersection(all) ?? all
        try self.read(registers, told)
        let concerned = isBeat ? all : changed.union(told).union(woken).union(self.left)
        // What was seen too long ago says nothing of now: the host guards itself.
        guard !concerned.isEmpty, self.seeTheirFile else { return }
        var counts = ByName<Count>()
        do throws(FleetError) {
            counts = try self.push(registers, of: concerned, isBeat: isBeat)
        } catch {
            // A link that may not tell of failures still obeys.
            guard registers.connection.isOpen, error.code == .refused else { throw error }
            self.newTrouble = Trouble(text: "does not tell its failures: \(error.message)", code: error.code)
        }
        try self.decide(concerned, counts, registers)
    }

    /// A turn is short, so that heartbeats and rights to probe never wait for long.
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

    /// Looks at the file if it has changed; returns the circuits that have.
    private func look(isForced: Bool) -> Names {
        let number = self.file.number
        guard let changed = self.file.look(isForced: isForced, at: self.now) else { return [] }
        if self.file.number != number {
            // Another file has taken the place: the server has what the one before has told.
            self.mustForgetPushed = true
            self.mirror = FailureMirror()
            self.lastBeat = .min
        }
        for name in self.links.keys where self.files[name] == nil { self.links[name] = nil }
        for name in self.files.keys where self.links[name] == nil { self.links[name] = CircuitLink(self.settings) }
        return changed
    }

    /// By which the server knows this host.
    private var fileNumber: String { String(self.file.number ?? 0) }

    /// By which the server knows this link.
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
        // Rules change seldom, and to put them into words for nothing costs more than all else of a beat.
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
                // Each link says only once an hour which circuits its host has.
                forgetIdleAfter: self.store.forgetIdleTime.map { max($0, 3 * Self.sweepTime) })
        }
    }

    /// Reads the registers that others have told of, and those of which nothing is known.
    private func read(_ registers: Registers, _ told: Names) throws(FleetError) {
        let unknown = self.links.compactMap { name, link in link.needsRead ? name : nil }
        let wanted = told.union(unknown).subtracting(self.unreadable)
        guard !wanted.isEmpty else { return }
        var found = try registers.read(wanted).registers
        let missing = wanted.subtracting(found.map(\.name))
        if !missing.isEmpty {
            for name in try registers.deleteDamaged(missing.sorted()) { self.tell?(FleetNews(ofDamage: name)) }
            // What this link knows, and the server does not, was lost there.
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
        }
    }

    // MARK: - Counting

    /// Brings the mirror up to date, and counts what all hosts have told.
    private func push(_ registers: Registers, of names: Names, isBeat: Bool) throws(FleetError) -> ByName<Count> {
        let files = names.compactMap { self.files[$0] }.filter { file in
            // Failures of an open register count for nothing, and those of an observing circuit are its own affair.
            !file.isObserving && self.links[file.name]?.register?.state == .closed
        }
        let changes = self.mirror.changes(in: files, isBeat: isBeat)
        try registers.push(new: changes.new, gone: changes.gone, of: self.fileNumber)
        if !changes.sums.isEmpty { try registers.push(sums: changes.sums, of: self.fileNumber) }
        self.mirror.apply(changes, of: files)
        let counted = files.filter { $0.hasBadCalls && (isBeat || changes.names.contains($0.name)) }
        // Of those that others have told of just now the registers are read first: they may be open.
        let told = registers.told(by: registers.connection.notifications) ?? Names(counted.map(\.name))
        let wanted = counted.filter { !told.contains($0.name) }
        let counts = try registers.count(wanted.map(\.wanted))
        // A register that has no count is not closed any more, or was deleted.
        for file in wanted where counts[file.name] == nil { self.links[file.name]?.doubt() }
        return counts
    }

    /// Says that this host is there no longer.
    func leave(_ registers: Registers) throws(FleetError) {
        try registers.forgetPushed(by: self.link)
        try registers.leave(self.link)
    }
}
#endif
