import BreakerStore

/// What a faulty caller does wrong, now and then.
extension HistoryCaller {
    /// Asks for what the fault does harm to, of which there is little by chance.
    mutating func preparesFault() -> HistoryAct? {
        guard let fault = self.fault, Bool.random(using: &self.random) else { return nil }
        let acts: [HistoryAct]
        switch fault {
        case .staleAnswer: acts = [.look(circuit: 0), .look(circuit: 0), .record(circuit: 0, .failure)]
        case .lostFailure: return nil
        case .secondProbe:
            acts = [.operate(circuit: 0, .probe), .record(circuit: 0, .failure), .admit(circuit: 0)]
        case .lateResult:
            guard let circuit = self.permits.first?.circuit else { return .admit(circuit: 0) }
            acts = [
                .look(circuit: circuit), .operate(circuit: circuit, .reset),
                .report(permit: 0, .failure, isLater: false),
            ]
        }
        return acts.randomElement(using: &self.random)
    }

    private mutating func isWrong() -> Bool { Int.random(in: 0..<3, using: &self.random) == 0 }

    mutating func repeatsRefusal(_ circuit: Int) -> Bool {
        guard self.fault == .staleAnswer, let (answer, left) = self.refusals[circuit], self.isWrong()
        else { return false }
        self.end(self.begin(.admit, circuit), answer, left)
        return true
    }

    mutating func repeatsLook(_ circuit: Int) -> Bool {
        guard self.fault == .staleAnswer, let (answer, look) = self.looks[circuit], self.isWrong()
        else { return false }
        self.end(self.begin(.look, circuit), answer, look)
        return true
    }

    mutating func losesFailure() -> Bool { self.fault == .lostFailure && self.isWrong() }

    /// Does something else than to report the end of a call, if that is the fault.
    mutating func reportsWrongly(
        _ circuit: Int, _ permit: CallPermit, _ outcome: RecordedOutcome
    ) -> Bool {
        guard outcome == .failure else { return false }
        if self.losesFailure() {
            self.lost.append(permit)
            return true
        }
        guard self.fault == .lateResult, self.breakers[circuit].state.isClosed else { return false }
        self.lost.append(permit)
        self.breakers[circuit].recordFailure(Bad())
        return true
    }
}
