/// The words of operators about circuits: the newest of each kind, for the links of all hosts.
extension Transaction {
    private struct Words {
        var id: Int64
        var all: [LinkWord]

        subscript(_ kind: LinkWord.Kind) -> LinkWord? { self.all.first { $0.kind == kind } }

        /// The newest stamp that this host knows.
        ///
        /// A word without a stamp counts as floor + 1, the least stamp that it can get.
        var newest: Int64 { self.all.map { $0.saidAt ?? $0.floor.addingSaturating(1) }.max() ?? 0 }
    }

    private func words(of name: String) throws(BreakerStoreError) -> Words? {
        guard let id = try self.row(of: name)?.id else { return nil }
        let words = try self.database.all(
            """
            SELECT kind, number, lamport_time, floor, at, hold, hold_for, operator, reason FROM command
            WHERE circuit = ?1 AND kind IN ('hold', 'reset', 'probe') ORDER BY floor, at
            """, .integer(id)
        ) { LinkWord($0, at: self.now) }
        return Words(id: id, all: words.compactMap(\.self))
    }

    private func write(_ word: LinkWord, of circuit: Int64) throws(BreakerStoreError) {
        try self.database.run(
            """
            INSERT OR REPLACE INTO command
            (circuit, kind, number, lamport_time, floor, at, hold, hold_for, operator, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """,
            .integer(circuit), .text(word.kind.rawValue), .integer(word.number), SQLValue(word.saidAt),
            .integer(word.floor), .integer(self.now.subtracting(word.age).microseconds), SQLValue(word.hold?.rawValue),
            SQLValue(word.holdFor), SQLValue(word.by.map(LinkText.cut)), SQLValue(word.reason.map(LinkText.cut)))
    }

    /// Notes a word that an operator has just said of a circuit; chooses its number and its floor.
    func said(_ word: LinkWord, of name: String) throws(BreakerStoreError) {
        guard let words = try self.words(of: name) else { return }
        var word = word
        word.number = .random(in: 1..<Int64.max)
        word.floor = words.newest
        try self.write(word, of: words.id)
    }

    /// Stamps this host's words with their place among those of all hosts; false if all have stamps.
    func stampWords(of name: String, serverTime: Int64, notBefore: Int64) throws(BreakerStoreError) -> Bool {
        guard let words = try self.words(of: name) else { return false }
        let credible = LinkWord.credibleStamps(at: serverTime)
        var least = notBefore
        var isChanged = false
        // Oldest first, by their floors: an operator's later word stays later.
        for var word in words.all where word.saidAt == nil {
            // A floor above all credible stamps comes from a word with a damaged stamp: this word takes its place.
            let floor = credible.contains(word.floor) ? word.floor : 0
            let stamp = max(least, floor + 1, serverTime.subtractingSaturating(word.age))
            word.saidAt = min(stamp, LinkWord.latest)
            least = stamp.addingSaturating(1)
            try self.write(word, of: words.id)
            isChanged = true
        }
        return isChanged
    }

    /// Applies a word of another host to the circuit; false if this host has a newer word.
    ///
    /// - Parameters:
    ///   - leavesTrip: whether a reset must leave the circuit open, because the circuit opened after the reset was
    ///     said: the reset was meant for the state before.
    ///   - serverTime: the server's present time; a word of the file with a damaged stamp counts as older.
    func obey(
        _ word: LinkWord, on name: String, by who: String?, leavesTrip: Bool, serverTime: Int64
    ) throws(BreakerStoreError) -> Bool {
        let credible = LinkWord.credibleStamps(at: serverTime)
        guard let words = try self.words(of: name), let stamp = word.stamp, credible.contains(stamp.saidAt) else {
            return false
        }
        func isOlder(_ kind: LinkWord.Kind) -> Bool {
            guard let own = words[kind] else { return true }
            // A word of this host that has no stamp yet goes to the other hosts first.
            return own.stamp.map { $0 < stamp || !credible.contains($0.saidAt) } ?? false
        }
        guard isOlder(word.kind) else { return false }
        let (endsHold, isOver) = (isOlder(.hold), !isOlder(.reset))
        var cut = word
        cut.reason = word.reason.map(LinkText.cut)
        _ = try self.change(name, by: who) { [cut] circuit, moment, _ in
            circuit.obey(cut, by: who, leavesTrip: leavesTrip, endsHold: endsHold, isOver: isOver, at: moment.now)
        }
        try self.write(word, of: words.id)
        return true
    }
}

extension Circuit {
    /// Applies a word of another host.
    ///
    /// - Parameters:
    ///   - endsHold: for a reset, whether it is newer than the circuit's hold.
    ///   - isOver: for a hold, whether a newer reset has ended it already.
    mutating func obey(
        _ word: LinkWord, by who: String?, leavesTrip: Bool, endsHold: Bool, isOver: Bool, at now: StoreTime
    ) {
        switch word.kind {
        case .hold:
            let left = word.left.map { min($0, Duration.longestAllowed.saturatingMicroseconds) }
            if let state = word.hold, left != 0, !isOver {
                self.held(state, for: left, by: who, reason: word.reason, at: now)
            } else {
                _ = self.released(at: now, reason: word.reason)
            }
        case .reset where leavesTrip:
            if endsHold { _ = self.released(at: now, reason: word.reason) }
        case .reset:
            self.resetOrdered(saidAt: now.subtracting(word.age), endsHold: endsHold, reason: word.reason, at: now)
        case .probe: break
        }
    }
}

extension LinkWord {
    /// Reads a row of the table; nil for values that no version of this library can have written.
    init?(_ row: Row, at now: StoreTime, from first: Int32 = 0) {
        guard let kind = row.typedText(first).flatMap(Kind.init(rawValue:)) else { return nil }
        let saidAt = row.optionalInteger(first + 2)
        let floor = row.integer(first + 3)
        let hold = row.optionalText(first + 5)
        guard (0...Self.latest).contains(floor), saidAt.map((0...Self.latest).contains) ?? true,
            hold == nil || HoldState(rawValue: hold ?? "") != nil
        else { return nil }
        self.init(
            kind: kind, number: row.integer(first + 1), saidAt: saidAt, floor: floor,
            age: max(0, now.microseconds(since: StoreTime(microseconds: row.integer(first + 4)))),
            hold: hold.flatMap(HoldState.init(rawValue:)),
            holdFor: row.optionalInteger(first + 6).map { max(0, $0) },
            by: row.optionalText(first + 7).map(LinkText.cut), reason: row.optionalText(first + 8).map(LinkText.cut))
    }
}
