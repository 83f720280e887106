/// What processes count together, and by which windows they decide, held against their own logs.
struct Counts {
    /// What is played, in this order.
    enum Scene: String, CaseIterable {
        case kills, windows, moments
    }

    private let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        for scene in Scene.allCases where self.stage.options.only ?? scene.rawValue == scene.rawValue {
            switch scene {
            case .kills: try await CountsKills(self.stage).run()
            case .moments: try await CountsMoments(self.stage).run()
            case .windows: try await CountsWindows(self.stage).run()
            }
        }
    }
}
