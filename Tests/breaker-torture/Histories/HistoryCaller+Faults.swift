import BreakerStore

/// What a faulty caller does wrong, now and then.
extension HistoryCaller {
    /// Makes results late, which few are by chance, and looks at what becomes of them.
    mutating func preparesFault() -> HistoryAct? {
        guard self.fault == .lateResult, let permit = self.permits.first, self.isWrong() else { return nil }
        return Bool.random(using: &self.random)
            ? .operate(circuit: permit.circuit, .reset) : .look(circuit: permit.circuit)
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
        _ circuit: Int, _ permit: CallPermit, _ ending: HistoryEvent.Ending
    ) -> Bool {
        guard ending == .failure else { return false }
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
