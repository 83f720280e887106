/// One way of breaking things.
enum Part: String, CaseIterable {
    // The order is that of a whole run.
    case kill, errors

    func run(_ stage: Stage) async throws {
        switch self {
        case .kill: try await KillLoop(stage).run()
        case .errors: try await SystemErrors(stage).run()
        }
    }
}

/// What a process does that a part starts.
enum Role: String {
    case killer

    /// Returns the exit code.
    static func run(_ arguments: [String]) async -> Int32 {
        guard let name = arguments.first, let role = Role(rawValue: name) else { return 64 }
        switch role {
        case .killer: return KillLoop.Killer.run()
        }
    }
}
