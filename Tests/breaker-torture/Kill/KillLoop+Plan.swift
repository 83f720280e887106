extension KillLoop {
    /// What one worker is to do, and how it is to end.
    struct Plan: Codable {
        enum End: Codable {
            /// It kills itself at a step of a place; if it never comes there, it is killed as the next case says.
            case atStep(Place, Int)
            /// Killed once it has opened the store and begun so many calls, and so many microseconds later.
            case afterCalls(Int, Int64)
            /// Killed so many microseconds after its start.
            case afterTime(Int64)
            /// It looks whether the dead are in anybody's way, and lives.
            case witness
        }

        var seed: UInt64
        /// How many calls each of so many callers makes.
        var calls: Int
        var callers: Int
        var end: End

        init(_ end: End, calls: Int, using random: inout SeededRandom) {
            self.seed = random.next()
            self.calls = calls
            self.callers = [1, 1, 2, 3].randomElement(using: &random) ?? 1
            self.end = end
        }

        init(dyingIn place: Place, using random: inout SeededRandom) {
            switch place {
            case .random:
                let isEarly = Int.random(in: 0..<4, using: &random) == 0
                self.init(
                    isEarly
                        ? .afterTime(.random(in: 0...15_000, using: &random))
                        : .afterCalls(.random(in: 0...30, using: &random), .random(in: 0...400, using: &random)),
                    calls: 1_000,
                    using: &random
                )
            case .checkpoint:
                self.init(.atStep(place, place.step(using: &random)), calls: 400, using: &random)
            case .close:
                let calls = Int.random(in: 0...12, using: &random)
                self.init(.atStep(place, place.step(using: &random)), calls: calls, using: &random)
            case .calls, .transaction, .open, .migration, .creation, .quarantine:
                self.init(.atStep(place, place.step(using: &random)), calls: 40, using: &random)
            }
        }
    }

    /// Some workers on one file, a few at a time; afterwards all are dead, and the file is looked through.
    enum Wave {
        case creation, migration, calls, checkpoint, quarantine

        func plans(using random: inout SeededRandom) -> [Plan] {
            let places: [Place] =
                switch self {
                case .creation: [.creation, .open, .migration, .creation, .migration, .creation, .random]
                case .migration: [.migration, .migration, .migration, .migration, .migration, .open, .random]
                case .calls:
                    [.transaction, .transaction, .random, .open, .close, .transaction, .calls, .close, .transaction]
                case .checkpoint: [.checkpoint, .checkpoint, .checkpoint, .checkpoint]
                case .quarantine: [.quarantine, .quarantine, .quarantine, .creation, .migration]
                }
            return places.shuffled(using: &random).map { Plan(dyingIn: $0, using: &random) }
        }
    }
}
