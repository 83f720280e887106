/// Decides from the facts alone whether the files are a store.
extension OpeningFacts {
    /// The kind of files at a store's paths.
    enum Finding: Equatable {
        /// Nothing, an empty file, or a store whose creation was cut short.
        case new
        case store
        case refused(BreakerStoreError)
        /// The decision needs a fact that is not known yet.
        case unknown(Fact)
    }

    /// Decides whether the files are a store, new, or to be refused.
    ///
    /// - Parameter trustsHeader: if true and a worker has the store open, a known version in the database file is
    ///   believed, though the log may have a newer copy of the first page. This saves reading the log frame by frame,
    ///   which takes long in a busy store. Only for callers that ask SQLite for the version again, through the
    ///   wal-index, before they write.
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
            return self.findingByLog(else: Schema.stranger(self.file, "it is the database of another program"))
        case .zeros, .other:
            // A power cut during a creation may leave a file with its size but none of its bytes. SQLite rolls the
            // journal back to no pages, so the file is new.
            if self.content == .zeros, self.hasJournal {
                guard let startsFromNothing = self.startsFromNothing else { return .unknown(.journal) }
                if startsFromNothing { return .new }
            }
            return self.findingByLog(else: Schema.noDatabase(self.file))
        }
    }

    /// Why this process may not use the file at a path, or could not examine that file.
    var refusal: BreakerStoreError? {
        for (path, found) in self.names {
            let isDatabase = path == self.file.path
            if let refusal = found.refusal(path, isDatabase: isDatabase, user: self.user, in: self.directory) {
                return refusal
            }
        }
        return self.failure
    }

    /// Whether this build knows the version of a file whose header names a store.
    private func finding(of header: DatabaseHeader, trustsHeader: Bool) -> Finding {
        if trustsHeader, self.hasIndex {
            guard let lock = self.lockContent else { return .unknown(.lock) }
            if lock.hasWorkers, self.refusal(of: header.userVersion) == nil { return .store }
        }
        // Until SQLite has rolled back the journal, only the header's version can be read.
        if self.hasJournal || !self.hasLog { return self.store(of: header.userVersion) }
        // If no process has the log open, SQLite must read the whole log to find the version. So the library first
        // reads all copies of the first page itself, and asks SQLite which copy counts only if one has an unknown
        // version.
        guard let versions = self.logVersions else { return .unknown(.logVersions) }
        if (versions + [header.userVersion]).allSatisfy({ self.refusal(of: $0) == nil }) { return .store }
        guard let version = self.version else { return .unknown(.version) }
        return self.store(of: version)
    }

    /// The schema's version of files that are a store; nil if SQLite must be asked (`Fact.version`).
    var storedVersion: Int64? {
        if let version = self.version { return version }
        if case .store(let version) = self.byLog { return version }
        guard case .header(let header) = self.content else { return nil }
        // After a recent migration the new first page may be in the log alone.
        let isInLog = self.hasLog && !self.hasJournal && header.userVersion < Schema.version
        return isInLog ? nil : header.userVersion
    }

    private func refusal(of version: Int64) -> BreakerStoreError? { Schema.refusal(of: version, self.file.path) }

    private func store(of version: Int64) -> Finding {
        self.refusal(of: version).map { .refused($0) } ?? .store
    }

    /// Decides by log and database together: a checkpoint that was cut short may have torn the first page.
    ///
    /// SQLite reads the application id through the log, but that alone proves nothing: another program's file may have
    /// replaced a store whose log was left. So SQLite must also find the whole file sound.
    private func findingByLog(else refusal: BreakerStoreError) -> Finding {
        // To SQLite a file of one byte is empty, and SQLite deletes the log of an empty file (`OpeningPlan`).
        if self.hasLog, self.hasLock, let database = self.database, database.size > 1 {
            guard let lock = self.lockContent else { return .unknown(.lock) }
            if lock != .other {
                guard let byLog = self.byLog else { return .unknown(.wholeByLog) }
                if case .store(let version) = byLog { return self.store(of: version) }
            }
        }
        return .refused(refusal)
    }

    /// Whether the files are a store, not new; throws a refusal.
    ///
    /// Examines the facts that the decision needs, and changes no file.
    static func isStore(_ file: StoreFile, trustsHeader: Bool = false) throws(BreakerStoreError) -> Bool {
        var facts = OpeningFacts(of: file)
        while true {
            switch facts.finding(trustsHeader: trustsHeader) {
            case .new: return false
            case .store: return true
            case .refused(let error): throw error
            case .unknown(let what): facts.examine(what)
            }
        }
    }
}
