/// Files with other bits, bytes and pages than were written, cut ones, and those of other stores.
struct Mutations {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    func cases(_ random: inout SeededRandom) -> [HostileCase] {
        self.torn(&random) + self.rowBits() + self.swaps()
    }

    /// What the part `torn` tries, before other eyes.
    private func torn(_ random: inout SeededRandom) -> [HostileCase] {
        TornCase.all(of: self.stock.stores, &random).map { torn in
            var made = HostileCase(kind: torn.kind, name: "\(torn)") { place in
                _ = try torn.store.write(to: place.store, torn.isLive ? nil : torn.damage)
            }
            if torn.isLive { made.strike = { try Self.overwrite($0, torn.damage) } }
            made.isOneOfMany = true
            return made
        }
    }

    @Sendable private static func overwrite(_ place: HostilePlace, _ damage: Damage) throws {
        let path = "\(place.store)/\(damage.file.rawValue)"
        guard let now = FileBytes.read(path), !now.isEmpty else { return }
        var damaged = now
        damage.apply(to: &damaged)
        try FileBytes.overwrite(path, from: now, to: damaged)
    }

    // MARK: - Rows

    /// Each bit in and around the clock's row and one of each kind of circuit and worker.
    private func rowBits() -> [HostileCase] {
        guard let bytes = self.stock.stores[1].files[.database] else { return [] }
        let store = self.stock.stores[1]
        let marks = [
            // A row begins with the lengths and types of its columns; the boot's id has a dash at these places.
            (Self.boot(in: bytes), 20, 70), (Self.place(of: "closedhostilefailures", in: bytes), 45, 120),
            (Self.place(of: "halfhostilefailures", in: bytes), 45, 120),
            (Self.place(of: "breaker-torture", in: bytes), 20, 30),
        ]
        return marks.flatMap { mark, before, behind -> [HostileCase] in
            guard let mark else { return [] }
            return ((mark - before) * 8..<(mark + behind) * 8).map { bit in
                let damage = Damage(file: .database, how: .flip(bit: bit))
                var made = HostileCase(kind: "bits of rows", name: "\(damage)") { place in
                    _ = try store.write(to: place.store, damage)
                }
                made.isOneOfMany = true
                return made
            }
        }
    }

    private static func place(of text: String, in bytes: [UInt8]) -> Int? {
        let sought = Array(text.utf8)
        guard let first = sought.first else { return nil }
        return bytes.indices.dropLast(sought.count).last {
            bytes[$0] == first && bytes[$0..<$0 + sought.count].elementsEqual(sought)
        }
    }

    /// Where 36 hexadecimal digits and dashes begin.
    private static func boot(in bytes: [UInt8]) -> Int? {
        let dashes = [8, 13, 18, 23]
        let dash = UInt8(ascii: "-")
        return bytes.indices.dropLast(36).first { start in
            guard bytes[start + 8] == dash else { return false }
            return (0..<36).allSatisfy { place in
                let byte = bytes[start + place]
                let isDigit = byte >= 0x30 && byte <= 0x39 || byte >= 0x61 && byte <= 0x66
                return dashes.contains(place) ? byte == dash : isDigit
            }
        }
    }

    // MARK: - Files of others

    /// Each choice of files from another store, before the store is opened, and in place while it is open.
    private func swaps() -> [HostileCase] {
        let outcomes = ["", "-wal", "-shm", "-lock", "-board"]
        var cases: [HostileCase] = []
        for (store, others) in self.pairs {
            for choice in 1..<1 << outcomes.count {
                let chosen = outcomes.enumerated().filter { choice & 1 << $0.offset != 0 }.map(\.element)
                let name = "\(chosen.map { "a.db\($0)" }) of \(others.name) in \(store.name)"
                cases.append(
                    HostileCase(kind: "swaps", name: name) { place in
                        _ = try store.write(to: place.store, nil)
                        try Self.swap(chosen, others, place)
                    })
                var live = HostileCase(kind: "swaps while open", name: name) { place in
                    _ = try store.write(to: place.store, nil)
                }
                live.strike = { try Self.swap(chosen, others, $0) }
                cases.append(live)
            }
        }
        return cases
    }

    private var pairs: [(StoreBytes, StoreBytes)] {
        let (log, copied, other) = (self.stock.stores[0], self.stock.stores[1], self.stock.other)
        return [(log, copied), (log, other), (copied, log), (copied, other), (other, log)]
    }

    /// As a new file: what is mapped is never cut.
    private static func swap(_ outcomes: [String], _ other: StoreBytes, _ place: HostilePlace) throws {
        for outcome in outcomes {
            let file = Damage.File(rawValue: "a.db\(outcome)")
            let bytes = file.flatMap { other.files[$0] } ?? other.lock
            try FileBytes.write(bytes, to: "\(place.directory)/new")
            try place.move("\(place.directory)/new", to: place.path + outcome)
        }
    }
}
