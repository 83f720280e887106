import BreakerStore
import BreakerTool

/// Asks a circuit to let a call through, and waits for it as `--wait` allows.
struct Admitting {
    let breaker: CircuitBreaker
    /// How long the call may wait; nil if it must not.
    let budget: Duration?
    /// The process that makes the call; nil if it can't be seen.
    let caller: RunningProcess?
    let context: Context

    enum Answer<Permit> {
        case admitted(Permit)
        /// A probe of the circuit runs, and the caller is a part of it.
        case partOfProbe
        case refused(Refusal)
    }

    private enum WaitResult {
        case tryAgain
        case refused(hasWaited: Bool)
    }

    /// Tries until the circuit admits the call, refuses it for longer than the budget, or turns out to run a probe of
    /// which the caller is a part.
    func admission<Permit>(by admit: () throws(CircuitOpenError) -> Permit) -> Answer<Permit> {
        /// Nil if this is the last try.
        var waiting = self.budget.map { Waiting(until: self.context.uptime + $0) }
        while true {
            let refusal: CircuitOpenError
            do throws(CircuitOpenError) {
                return .admitted(try admit())
            } catch {
                refusal = error
            }
            if refusal.cause == .probing, self.isPartOfProbe { return .partOfProbe }
            guard var current = waiting else { return self.refuse(refusal) }
            switch self.wait(&current) {
            case .tryAgain: waiting = current
            case .refused(hasWaited: false): return self.refuse(refusal)
            // The circuit may refuse for another reason by now.
            case .refused(hasWaited: true): waiting = nil
            }
        }
    }

    private func refuse<Permit>(_ refusal: CircuitOpenError) -> Answer<Permit> {
        let isDeclared = refusal.cause == .open && self.breaker.declaredOutage != nil
        return .refused(Refusal(refusal, isDeclared: isDeclared))
    }

    private var isPartOfProbe: Bool {
        self.caller.map { self.breaker.isProbed(byAncestorOf: $0) } ?? false
    }

    /// Waits until the call is to be tried again; `.refused` if it can't be admitted within the budget.
    private func wait(_ waiting: inout Waiting) -> WaitResult {
        // Read once for each open state, of which it is a part: the read goes through the history.
        var lastOpen: (openEnd: Int64, outage: Duration?)?
        var hasWaited = false
        while true {
            let circuit = self.breaker.awaited
            if case .open(let openEnd, _) = circuit, lastOpen?.openEnd != openEnd {
                lastOpen = (openEnd, self.breaker.declaredOutage)
            }
            let step = waiting.next(
                circuit, declared: lastOpen?.outage, at: self.context.uptime, draw: .random(in: 0..<1))
            switch step {
            case .tryNow: return .tryAgain
            case .refuse: return .refused(hasWaited: hasWaited)
            case .readAgain(let time):
                hasWaited = true
                _ = self.context.console.pause(for: time, listening: false)
            }
        }
    }
}
