extension KillLoop {
    /// Where a worker is when it is killed.
    enum Place: Int, CaseIterable, Codable {
        /// Wherever the killer's signal finds it.
        case random
        case calls, transaction, checkpoint, open, migration, creation, quarantine, close

        var name: String { "\(self)" }

        /// How many steps there are about: hooks of the library, and SQLite's system calls.
        var steps: Int {
            switch self {
            case .random: 0
            case .calls: 60
            case .transaction: 90
            case .checkpoint: 24
            case .open: 60
            case .migration: 32
            case .creation: 16
            case .quarantine: 4
            case .close: 24
            }
        }

        /// One of them, rather an early than a late one: those before it must not be the last.
        func step(using random: inout SeededRandom) -> Int {
            .random(in: 1...Int.random(in: 1...max(1, self.steps), using: &random), using: &random)
        }
    }
}
