/// What opening a store's file yields.
struct Opened: Sendable {
    let writer: Database
    let lock: LockFile
    let worker: Worker
    let identity: FileIdentity
    /// What a broken file that was here is called now.
    let quarantined: String?
    /// What was wrong with the file and has been mended; the history is to tell of it.
    let mended: [StoreNote]
    /// Whether answers may be compared with the header of the wal-index.
    let answersCount: Bool
}

/// Opens a store's file for reading and writing; creates and migrates the file if the configuration allows it.
///
/// `OpeningFacts` says what is there, `OpeningPlan` what is to be done, and this type does it.
struct Opening {
    let file: StoreFile
    let configuration: CircuitStore.Configuration
    let clock: StoreClock
    /// The lock file and the worker that this process had before it reopens the store; nil at first.
    var previous: Membership?
    /// The files that this process had open last; another database may have taken their place beside their log.
    var left: FileIdentity?
    /// Whether SQLite has called the file broken; the opening looks through it first then.
    var isSuspect = false

    /// A worker's byte in a lock file.
    struct Membership: Sendable {
        let lock: LockFile
        let worker: Int64
    }

    /// How long an opening may take: a hundred processes that start together open one after the other, under the guard.
    static let patience = Duration.seconds(10)

    func run() throws(BreakerStoreError) -> Opened {
        let deadline = Deadline(after: self.configuration.patience)
        var quarantined: String?
        do throws(BreakerStoreError) {
            return try self.open(until: deadline, isSuspect: self.isSuspect, &quarantined)
        } catch {
            guard self.mayBeBroken(error), self.mayCreate else { throw error }
            // Another process may have moved the file aside in the meantime, so the opening tries again in any case.
            return try self.open(until: deadline, isSuspect: true, &quarantined)
        }
    }

    /// Whether SQLite calls the file broken, or refuses to write because a garbled header names a later format.
    private func mayBeBroken(_ error: BreakerStoreError) -> Bool {
        if error.code == .corrupt || error.code == .notAStore { return true }
        guard error.code == .permissionDenied else { return false }
        var facts = OpeningFacts(of: self.file)
        facts.look(at: .content)
        guard case .header(let header) = facts.content else { return false }
        return !header.isWritable
    }

    var mayCreate: Bool { self.configuration.access == .readWrite }

    private func open(
        until deadline: Deadline, isSuspect: Bool, _ quarantined: inout String?
    ) throws(BreakerStoreError) -> Opened {
        var plan = OpeningPlan(
            facts: OpeningFacts(unexamined: self.file), mayCreate: self.mayCreate, isReopening: self.previous != nil,
            left: self.left, isSuspect: isSuspect)
        var madeLock: FoundFile.Number?
        while true {
            Hook.reached("open.begin")
            guard let lock = try self.chooseLockFile(&plan) else {
                try self.pause(until: deadline)
                continue
            }
            if lock.isNew, lock !== self.previous?.lock { madeLock = lock.number }
            // Locked before the guard: the process that has the guard may be waiting for this worker.
            if let previous { _ = lock.lock(worker: previous.worker) }
            do throws(BreakerStoreError) {
                let opened = try lock.withGuard(until: deadline) { () throws(BreakerStoreError) in
                    Hook.reached("open.guarded")
                    plan.guarding = .init(lock: lock.number, isNew: madeLock != nil && lock.number == madeLock)
                    return try self.carryOut(&plan, lock, deadline, &quarantined)
                }
                if let opened { return opened }
            } catch {
                guard error == .moved(self.file.path), self.mayBeginAnew(after: plan.facts) else { throw error }
            }
            plan.guarding = nil
            try self.pause(until: deadline)
        }
    }

    private func pause(until deadline: Deadline) throws(BreakerStoreError) {
        guard !deadline.isOver else {
            throw BreakerStoreError(
                code: .busy, message: "a file of the store keeps being replaced", path: self.file.path)
        }
        deadline.pause(atMost: .milliseconds(1))
    }

    /// Whether nothing can be lost by a second try, after a file was replaced while it was opened.
    ///
    /// A log that lies beside another database than before may be of either. So that is for people to see.
    private func mayBeginAnew(after facts: OpeningFacts) -> Bool {
        let now = FileIdentity(of: self.file)
        return now.database == facts.identity.database || now.log == nil
    }

    /// The lock file to take byte 0 of, or nil if that has gone just now; throws a refusal.
    ///
    /// Before the file is known to be a store, or new, nothing is written.
    private func chooseLockFile(_ plan: inout OpeningPlan) throws(BreakerStoreError) -> LockFile? {
        switch plan.nextStep() {
        case .refuse(let error): throw error
        case .takeGuard(let mayMakeLockFile):
            do throws(BreakerStoreError) {
                return try self.openLockFile(plan.facts, mayMake: mayMakeLockFile)
            } catch {
                guard error.code == .notFound, !mayMakeLockFile else { throw error }
                return nil
            }
        // The others are steps under the guard.
        default: throw .moved(self.file.path)
        }
    }

    /// Does what the facts ask for, one step after the other; nil if all must begin anew.
    private func carryOut(
        _ plan: inout OpeningPlan, _ lock: LockFile, _ deadline: Deadline, _ quarantined: inout String?
    ) throws(BreakerStoreError) -> Opened? {
        while true {
            switch plan.nextStep() {
            case .refuse(let error): throw error
            case .beginAnew: return nil
            // These are steps without the guard, and of looks that are still due.
            case .takeGuard, .look: return nil
            case .create: try self.createFile()
            case .moveStraysAside: try self.moveStraysAside(beside: plan.facts.identity)
            case .deleteIndex: try self.deleteIndex()
            case .setAside:
                guard let kept = try self.setAside(plan.facts.identity) else { return nil }
                quarantined = kept
                plan.isSuspect = false
            case .open(let looksThrough):
                Hook.reached("open.decided")
                let connected = try ConnectedOpening(
                    self, plan.facts.identity, lock, isLockNew: plan.guarding?.isNew == true, deadline)
                return try connected.run(looksThrough: looksThrough, quarantined)
            }
            // Somebody who undoes each step keeps nobody waiting for the guard.
            if deadline.isOver { return nil }
        }
    }
}

extension OpeningPlan {
    /// Looks at the files anew, and then decides, after each look that the step asks for.
    mutating func nextStep() -> Step {
        self.facts.lookAnew()
        while case .look(let what) = self.step { self.facts.look(at: what) }
        return self.step
    }
}
