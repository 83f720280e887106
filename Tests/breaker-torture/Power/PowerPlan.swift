import BreakerStore

/// What the processes do whose writes are recorded.
struct PowerPlan {
    enum Scene: String, CaseIterable {
        /// There is nothing yet.
        case creation
        case calls
        /// A file of a version before the first.
        case migration
        /// A broken file is set aside.
        case quarantine
        /// There is little room for a while.
        case full
        /// What an earlier cut has left.
        case again
    }

    let scene: Scene
    let durability: Durability
    /// How many processes there are, and how many calls each makes.
    let workers: Int
    let acts: Int
    let seed: UInt64

    private static let durabilities: [(String, Durability)] = [
        ("transitions", .transitions), ("everyCommit", .everyCommit), ("processCrash", .processCrash),
    ]

    init(_ scene: Scene, isShort: Bool, using random: inout SeededRandom) {
        self.scene = scene
        self.workers = isShort ? scene == .calls ? 2 : 1 : .random(in: 1...2, using: &random)
        let durabilities: [Durability] =
            switch scene {
            // Its failures wait in the log, unsynced, for a checkpoint.
            case .calls: isShort ? [.transitions] : [.transitions, .transitions, .everyCommit, .processCrash]
            case .creation, .again: isShort ? [.everyCommit] : [.transitions, .everyCommit]
            case .migration, .quarantine, .full: [.transitions, .everyCommit]
            }
        self.durability = durabilities.randomElement(using: &random) ?? .transitions
        switch scene {
        case .calls: self.acts = isShort ? 40 : .random(in: 60...150, using: &random)
        case .again, .full: self.acts = isShort ? 20 : .random(in: 30...90, using: &random)
        case .creation, .migration, .quarantine: self.acts = isShort ? 10 : .random(in: 5...30, using: &random)
        }
        self.seed = random.next()
    }

    /// What shows that a sync is missing: two processes, and checkpoints.
    init(missingSyncUsing random: inout SeededRandom) {
        self.scene = .calls
        self.durability = .transitions
        self.workers = 2
        self.acts = 100
        self.seed = random.next()
    }

    /// The plan of one of its workers, as words of a command line.
    func words(worker: Int) -> [String] {
        [
            self.scene.rawValue, Self.durabilities.first { $0.1 == self.durability }?.0 ?? "", "\(self.acts)",
            "\(self.seed &+ UInt64(worker))",
        ]
    }

    init?(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard words.count == 4, let scene = Scene(rawValue: words[0]),
            let durability = Self.durabilities.first(where: { $0.0 == words[1] })?.1, let acts = Int(words[2]),
            let seed = UInt64(words[3])
        else { return nil }
        self.scene = scene
        self.durability = durability
        self.workers = 1
        self.acts = acts
        self.seed = seed
    }

    var description: String { "\(self.scene), \(self.durability), \(self.workers) × \(self.acts) calls" }
}
