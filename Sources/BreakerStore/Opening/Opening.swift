/// The result of opening a store's file.
struct Opened: Sendable {
    let writer: Database
    let lock: LockFile
    let worker: Worker
    let identity: FileIdentity
    /// A random number that no other file has (`clock.incarnation`).
    let incarnation: Int64
    /// Notes for the history about what was wrong with the file and has been repaired.
    let repaired: [StoreNote]
    /// Whether the wal-index's header shows if a cached decision still counts.
    let mayCacheDecisions: Bool
}

/// Opens a store's file: `OpeningFacts` describes the files, `OpeningPlan` decides the next step, and this type carries
/// it out.
struct Opening {
    let file: StoreFile
    let configuration: CircuitStore.Configuration
    let clock: StoreClock
    /// The lock file and worker's id that this process has while it reopens the store; nil at its first opening.
    var previous: Membership?
    /// The files that this process had open last.
    ///
    /// If a different database now lies beside their log, the log must be moved aside, or SQLite would apply the log to
    /// that database.
    var lastOpen: FileIdentity?
    /// Whether SQLite has called the file broken, or the file has no row ids left; then the opening first checks it.
    var isSuspect = false
    /// Called with the new name as soon as a broken database is quarantined.
    ///
    /// Not at the end: if this opening fails, the next one finds no broken file to note.
    let onQuarantine: (String) -> Void

    /// A worker's byte in a lock file.
    struct Membership: Sendable {
        let lock: LockFile
        let worker: WorkerID
    }

    /// How long an opening may take: a hundred processes that start together open the store one after the other.
    static let patience = Duration.seconds(10)

    func run() throws(BreakerStoreError) -> Opened {
        try HostBoot.requireID(of: self.configuration.clock)
        let deadline = Deadline(after: self.configuration.patience)
        do throws(BreakerStoreError) {
            return try self.open(until: deadline, isSuspect: self.isSuspect)
        } catch {
            guard self.mayBeBroken(error), self.mayCreate else { throw error }
            // Tries again in any case: another process may have moved the broken file aside by now.
            return try self.open(until: deadline, isSuspect: true)
        }
    }

    /// Whether SQLite calls the file broken, or refuses to write because a garbled header names a later format.
    private func mayBeBroken(_ error: BreakerStoreError) -> Bool {
        if error.code == .corrupt || error.code == .notAStore { return true }
        guard error.code == .permissionDenied else { return false }
        var facts = OpeningFacts(of: self.file)
        facts.examine(.content)
        guard case .header(let header) = facts.content else { return false }
        return !header.isWritable
    }

    var mayCreate: Bool { self.configuration.access == .readWrite }
    var mayMigrate: Bool { self.configuration.migration == .automatic }

    private func open(
        until deadline: Deadline, isSuspect: Bool
    ) throws(BreakerStoreError) -> Opened {
        var plan = OpeningPlan(
            facts: OpeningFacts(unexamined: self.file), mayCreate: self.mayCreate, mayMigrate: self.mayMigrate,
            isReopening: self.previous != nil, lastOpen: self.lastOpen, isSuspect: isSuspect)
        var createdLock: FoundFile.Number?
        while true {
            Hook.reached("open.begin")
            guard let lock = try self.chooseLockFile(&plan) else {
                try self.pause(until: deadline)
                continue
            }
            if lock.isNew, lock !== self.previous?.lock { createdLock = lock.number }
            // Locked before the setup lock: the process that holds the setup lock may be waiting for this worker.
            if let previous { _ = lock.lock(worker: previous.worker) }
            do throws(BreakerStoreError) {
                let opened = try lock.withSetupLock(until: deadline) { () throws(BreakerStoreError) in
                    Hook.reached("open.guarded")
                    plan.setupLock = .init(lock: lock.number, isNew: createdLock != nil && lock.number == createdLock)
                    return try self.carryOut(&plan, lock, deadline)
                }
                if let opened { return opened }
            } catch {
                guard error == .moved(self.file.path), self.mayStartOver(after: plan.facts) else { throw error }
            }
            plan.setupLock = nil
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

    /// Whether a second try can lose nothing: the database is still the one that was found, or no log is there.
    ///
    /// Asked after a file was replaced during the opening. A log beside a new database may belong to either database,
    /// and only an operator can decide to which.
    private func mayStartOver(after facts: OpeningFacts) -> Bool {
        let now = FileIdentity(of: self.file)
        return now.database == facts.identity.database || now.log == nil
    }

    /// Returns the lock file whose byte 0 is the setup lock, or nil if another program has just removed it; throws a
    /// refusal.
    ///
    /// Writes nothing before the files are known to be a store or new.
    private func chooseLockFile(_ plan: inout OpeningPlan) throws(BreakerStoreError) -> LockFile? {
        switch plan.nextStep() {
        case .refuse(let error): throw error
        case .acquireSetupLock(let mayMakeLockFile):
            do throws(BreakerStoreError) {
                return try self.openLockFile(plan.facts, mayMake: mayMakeLockFile)
            } catch {
                guard error.code == .notFound, !mayMakeLockFile else { throw error }
                return nil
            }
        // The plan returns all other steps only to a process that holds the setup lock.
        case .examine, .startOver, .create, .moveStraysAside, .deleteIndex, .quarantine, .open:
            throw .moved(self.file.path)
        }
    }

    /// Carries out the plan's steps one after the other; returns nil if the opening must start over.
    private func carryOut(
        _ plan: inout OpeningPlan, _ lock: LockFile, _ deadline: Deadline
    ) throws(BreakerStoreError) -> Opened? {
        while true {
            switch plan.nextStep() {
            case .refuse(let error): throw error
            case .startOver: return nil
            // Can't happen: the setup lock is held, and `nextStep` has examined all that the plan asked for.
            case .acquireSetupLock, .examine: return nil
            case .create: try self.createFile()
            case .moveStraysAside: try self.moveStraysAside(beside: plan.facts.identity)
            case .deleteIndex: try self.deleteIndex()
            case .quarantine:
                guard let newName = try self.quarantine(plan.facts.identity) else { return nil }
                self.onQuarantine(newName)
                plan.isSuspect = false
            case .open(let checksWholeFile):
                Hook.reached("open.decided")
                let connected = try ConnectedOpening(
                    self, found: plan.facts.identity, lock: lock, isLockNew: plan.setupLock?.isNew == true,
                    deadline: deadline)
                // If the file is still suspect, it was found whole, or could not be judged
                // (`OpeningPlan.stepForSuspect`): then a row may be damaged.
                return try connected.run(checksWholeFile: checksWholeFile, mayHaveBadRows: plan.isSuspect)
            }
            // A program that undoes each step must not make this process hold the setup lock forever.
            if deadline.isOver { return nil }
        }
    }
}

extension OpeningPlan {
    /// Finds the files again, examines each further fact that the plan asks for, and returns the plan's next step.
    mutating func nextStep() -> Step {
        self.facts.examineAgain()
        while case .examine(let what) = self.step { self.facts.examine(what) }
        return self.step
    }
}
