/// One way of breaking things.
enum Part: String, CaseIterable {
    // The order is that of a whole run.
    case kill, errors, stale

    func run(_ stage: Stage) async throws {
        switch self {
        case .kill: try await KillLoop(stage).run()
        case .errors: try await SystemErrors(stage).run()
        case .stale: try await StaleAnswers(stage).run()
        }
    }
}

/// What a process does that a part starts.
enum Role: String {
    case killer
    case staleReader = "stale-reader"
    case staleWriter = "stale-writer"

    /// Returns the exit code.
    static func run(_ arguments: [String]) async -> Int32 {
        guard let name = arguments.first, let role = Role(rawValue: name) else { return 64 }
        let rest = Array(arguments.dropFirst())
        switch role {
        case .killer: return KillLoop.Killer.run()
        case .staleReader: return await StaleAnswersReader.run(rest)
        case .staleWriter: return StaleAnswersWriter.run(rest)
        }
    }
}
