import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Asks a circuit to let a call through, and waits for it as `--wait` allows.
struct Admitting {
    let breaker: CircuitBreaker
    /// How long the call may wait; nil if it must not.
    let budget: Duration?
    let context: Context

    enum Answer<Permit> {
        case admitted(Permit)
        /// A probe of the circuit runs, and this process is a part of it.
        case partOfProbe
        case refused(Refused)
    }

    /// Asks until the circuit lets the call through, or the budget can't be met.
    func ask<Permit>(_ admit: () throws(CircuitOpenError) -> Permit) -> Answer<Permit> {
        var waiting = self.budget.map { Waiting(until: self.context.uptime + $0) }
        var isLast = waiting == nil
        while true {
            let refusal: CircuitOpenError
            do throws(CircuitOpenError) {
                return .admitted(try admit())
            } catch {
                refusal = error
            }
            if refusal.cause == .probing, self.isPartOfProbe { return .partOfProbe }
            guard !isLast else { return self.refuse(refusal) }
            switch self.wait(&waiting) {
            case .isWorthATry: break
            case .isRefused(hasWaited: false): return self.refuse(refusal)
            // The circuit may refuse for another reason by now.
            case .isRefused(hasWaited: true): isLast = true
            }
        }
    }

    private func refuse<Permit>(_ refusal: CircuitOpenError) -> Answer<Permit> {
        let isDeclared = refusal.cause == .open && self.breaker.declaredOutage != nil
        return .refused(Refused(refusal, isDeclared: isDeclared))
    }

    private enum End {
        case isWorthATry
        case isRefused(hasWaited: Bool)
    }

    private var isPartOfProbe: Bool {
        RunningProcess(pid: getpid()).map { self.breaker.isProbed(byAncestorOf: $0) } ?? false
    }

    /// Waits until the circuit is worth another try, or not within the budget.
    private func wait(_ waiting: inout Waiting?) -> End {
        var lastOpen: (until: Int64, outage: Duration?)?
        var hasWaited = false
        while true {
            let circuit = self.breaker.awaited
            if case .open(let until, _) = circuit, lastOpen?.until != until {
                lastOpen = (until, self.breaker.declaredOutage)
            }
            let step = waiting?.next(
                circuit, declared: lastOpen?.outage, at: self.context.uptime, draw: .random(in: 0..<1))
            switch step {
            case .tryNow: return .isWorthATry
            case .refuse, nil: return .isRefused(hasWaited: hasWaited)
            case .look(let time):
                hasWaited = true
                _ = self.context.console.pause(for: time, listening: false)
            }
        }
    }
}
