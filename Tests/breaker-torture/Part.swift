/// One way of breaking things.
enum Part: String, CaseIterable {
    // The order is that of a whole run.
    case kill, power, block, errors, disk, files, torn, hostile, schedule, stale, counts, histories, fleet

    /// All but `fleet`, which needs libpq and a server, and, in a release build, `schedule`, which needs hooks.
    static let byDefault = Self.allCases.filter { part in
        #if BREAKERSTORE_HOOKS
        part != .fleet
        #else
        part != .fleet && part != .schedule
        #endif
    }

    func run(_ stage: Stage) async throws {
        switch self {
        case .kill: try await KillLoop(stage).run()
        case .power: try await PowerCuts(stage).run()
        case .block: try await BlockCuts.run(stage)
        case .errors: try await SystemErrors(stage).run()
        case .disk: try await FullDisk.run(stage)
        case .files: try await FilesUnderFeet(stage).run()
        case .torn: try await TornFiles(stage).run()
        case .hostile: try await HostileFiles(stage).run()
        case .schedule: try await Scheduling(stage).run()
        case .stale: try await StaleAnswers(stage).run()
        case .counts: try await Counts(stage).run()
        case .histories: try await Histories(stage).run()
        case .fleet: try await FleetPart(stage).run()
        }
    }
}

/// What a process of this program does that a part starts: its calls are the experiment, or it needs to be one itself.
///
/// What is asked line by line is a worker's work instead: `breaker-worker` does it, as for the tests.
enum Role: String {
    case block
    case countsCaller = "counts-caller"
    case countsPeer = "counts-peer"
    case countsTraffic = "counts-traffic"
    case disk
    case fleetCaller = "fleet-caller"
    case fleetLink = "fleet-link"
    case historyCaller = "history-caller"
    case killer
    case killWorker = "kill-worker"
    case powerRound = "power-round"
    case powerWorker = "power-worker"
    case staleReader = "stale-reader"
    case staleWriter = "stale-writer"

    /// Returns the exit code.
    static func run(_ given: [String]) async -> Int32 {
        let arguments = Array(given.dropFirst())
        guard let name = given.first, let role = Role(rawValue: name) else { return 64 }
        switch role {
        case .block: return await BlockCuts.main(arguments)
        case .countsCaller: return await CountsCaller.run(arguments)
        case .countsPeer: return CountsPeer.run(arguments)
        case .countsTraffic: return await CountsTraffic.run(arguments)
        case .disk: return await FullDisk.main(arguments)
        #if PostgreSQL
        case .fleetCaller: return FleetCaller.run(arguments)
        case .fleetLink: return await FleetLinkRole.run(arguments)
        #else
        case .fleetCaller, .fleetLink: return 64
        #endif
        case .historyCaller: return await HistoryCaller.run(arguments)
        case .killer: return KillLoop.Killer.run(arguments)
        case .killWorker: return KillLoop.Recruit.run(arguments)
        case .powerRound: return await PowerCuts.judge()
        case .powerWorker: return PowerWorker.run(arguments)
        case .staleReader: return await StaleAnswersReader.run(arguments)
        case .staleWriter: return StaleAnswersWriter.run(arguments)
        }
    }
}
