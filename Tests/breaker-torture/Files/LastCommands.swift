import BreakerTestSupport

/// What was last said of two circuits that all workers use: one is held or not, the other open or closed.
///
/// Whatever happens to the files, a living worker knows it.
struct LastCommands {
    static let registration = "breaker held failures=1 recovery=1000000 ; breaker open failures=1 recovery=1000000"
    private static let states = ["held": "held-open", "open": "open"]

    private enum Said {
        case on, off
        /// A worker could not tell whether its command was carried out.
        case unknown
    }

    private var said: [String: Said] = ["held": .off, "open": .off]

    /// Whether there is anything to lose.
    var hasAny: Bool { self.said.values.contains(.on) }

    /// Gives one of the circuits a command; what a worker could not do may have been done all the same.
    ///
    /// - Parameter mustWork: whether the worker has the file.
    mutating func give(to worker: WorkerProcess, mustWork: Bool, _ random: inout SeededRandom) async throws {
        let circuit = Bool.random(using: &random) ? "held" : "open"
        let turnsOn = Int.random(in: 0..<3, using: &random) > 0
        let command: String
        switch (circuit, turnsOn) {
        case ("held", true): command = "hold held open"
        case ("held", false): command = Bool.random(using: &random) ? "release held" : "reset held"
        case (_, true): command = "reset open ; fail open"
        case (_, false): command = "reset open"
        }
        // A release of a circuit that is not held says nothing.
        if command == "release held", self.said[circuit] == .off { return }
        do {
            // Where the log is lost, a circuit that only the log had comes back by its next use. A worker may notice
            // the loss between the two.
            let commands = "\(Self.registration) ; call held ; call open ; \(command)"
            if mustWork { try await worker.askUntilDone(commands) } else { try await worker.ask(commands) }
            if command == "release held", !mustWork {
                // A new worker may have released a circuit whose hold no other worker had restored yet. That says
                // nothing.
                self.said[circuit] = .unknown
            } else {
                // A failure that a worker without its file has seen reaches the file some time later.
                self.said[circuit] = !turnsOn ? .off : mustWork || circuit == "held" ? .on : .unknown
            }
        } catch let error as WorkerProcess.Failure where !mustWork && error.answer != nil {
            self.said[circuit] = .unknown
        }
    }

    /// Another store has taken the place of the one to which the commands were given.
    mutating func forget() { self.said = self.said.mapValues { $0 == .unknown ? .unknown : .off } }

    /// What a worker sees that was not said; takes over what it sees where nobody knows.
    mutating func faults(seenBy worker: WorkerProcess) async throws -> [String] {
        var faults: [String] = []
        for (circuit, said) in self.said {
            let state = try await worker.askUntilDone("look \(circuit)")["state"] ?? "unknown"
            let on = Self.states[circuit]
            switch said {
            case .on where state != on: faults.append("'\(circuit)' is \(state): a hold or an open state is lost")
            case .off where state != "closed" && state != "unknown":
                faults.append("'\(circuit)' is \(state), against a later command")
            case .unknown: self.said[circuit] = state == on ? .on : .off
            case .on, .off: break
            }
        }
        return faults
    }
}

extension WorkerProcess {
    /// Asks until the file can be used: this worker may notice only now that its files are others, or another one may
    /// be making them.
    @discardableResult func askUntilDone(_ command: String) async throws -> Reply {
        let start = ContinuousClock.now
        while true {
            do {
                return try await self.ask(command)
            } catch let error as WorkerProcess.Failure where error.answer != nil {
                guard ContinuousClock.now - start < .hangLimit / 2 else { throw error }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}
