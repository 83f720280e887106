/// What the files are, by the facts alone.
extension OpeningFacts {
    /// What lies at the names of a store.
    enum Finding: Equatable {
        /// Nothing, an empty file, or a store whose creation was cut short.
        case new
        case store
        case refused(BreakerStoreError)
        /// More must be known.
        case unknown(Look)
    }

    /// - Parameter trustsHeader: whether the version in the first page is enough while a worker has the store open: the
    ///   caller asks SQLite for the version once more, through the log's index, before it writes anything. To read the
    ///   log of a busy store frame by frame takes long.
    func finding(trustsHeader: Bool) -> Finding {
        if let refusal = self.refusal { return .refused(refusal) }
        guard self.hasDatabase else { return .new }
        switch self.content {
        case nil: return .unknown(.content)
        case .header(let header) where header.applicationID == Schema.applicationID:
            return self.finding(of: header, trustsHeader: trustsHeader)
        case .header(let header):
            if header.applicationID == 0, header.userVersion == 0, !self.hasLog, !self.hasJournal {
                guard let isEmpty = self.isEmpty else { return .unknown(.tables) }
                if isEmpty { return .new }
            }
            return self.findingByLog(else: "it is the database of another program")
        case .zeros, .other:
            // A power cut in a creation may leave a file that has its size and none of its bytes; SQLite empties it.
            if self.content == .zeros, self.hasJournal {
                guard let startsFromNothing = self.startsFromNothing else { return .unknown(.journal) }
                if startsFromNothing { return .new }
            }
            return self.findingByLog(else: "it is not an SQLite database")
        }
    }

    /// Why a name may not be used, or could not be looked at.
    var refusal: BreakerStoreError? {
        for (path, found) in self.names {
            let isDatabase = path == self.file.path
            if let refusal = found.refusal(path, isDatabase: isDatabase, user: self.user, in: self.directory) {
                return refusal
            }
        }
        return self.failure
    }

    /// The file says that it is a store: whether its version is known.
    private func finding(of header: DatabaseHeader, trustsHeader: Bool) -> Finding {
        if trustsHeader, self.hasIndex {
            guard let lock = self.lockContent else { return .unknown(.lock) }
            if lock.hasWorkers, Schema.isKnown(header.userVersion) { return .store }
        }
        // What a journal is to roll back can't be read as it is.
        if self.hasJournal || !self.hasLog { return self.store(of: header.userVersion) }
        // A connection that only reads would have to go through the whole log, where nobody else has it open: it is
        // asked which page counts where one of them is of a later version.
        guard let versions = self.logVersions else { return .unknown(.logVersions) }
        if (versions + [header.userVersion]).allSatisfy(Schema.isKnown) { return .store }
        guard let version = self.version else { return .unknown(.version) }
        return self.store(of: version)
    }

    private func store(of version: Int64) -> Finding {
        Schema.isKnown(version) ? .store : .refused(Schema.newer(version, self.file.path))
    }

    /// Whether the log makes a whole store of the file: a checkpoint that was cut short may have torn the first page in
    /// the database.
    ///
    /// The first page alone says nothing: somebody else's file may have taken the place of a store whose log was left.
    private func findingByLog(else what: String) -> Finding {
        // SQLite takes a file of one byte for an empty one, whose log it deletes (`OpeningPlan`).
        if self.hasLog, self.hasLock, let database = self.database, database.size > 1 {
            guard let lock = self.lockContent else { return .unknown(.lock) }
            if lock != .other {
                guard let version = self.versionByLog else { return .unknown(.wholeByLog) }
                if let version { return self.store(of: version) }
            }
        }
        return .refused(Schema.stranger(self.file, what))
    }

    /// Whether the files are a store or new, once all is known that this takes; throws a refusal.
    ///
    /// Changes nothing.
    static func isStore(_ file: StoreFile, trustsHeader: Bool = false) throws(BreakerStoreError) -> Bool {
        var facts = OpeningFacts(of: file)
        while true {
            switch facts.finding(trustsHeader: trustsHeader) {
            case .new: return false
            case .store: return true
            case .refused(let error): throw error
            case .unknown(let what): facts.look(at: what)
            }
        }
    }
}
