/// What a caller does next.
enum HistoryAct {
    case admit(circuit: Int)
    case run(circuit: Int, RecordedOutcome)
    /// The place of the permit, and whether the caller waits for the commit.
    case report(permit: Int, RecordedOutcome, isLater: Bool)
    case record(circuit: Int, RecordedOutcome)
    case operate(circuit: Int, CallLog.What)
    case look(circuit: Int)
    case ask(circuit: Int)
    case restart

    /// - Parameter permits: how many the caller has.
    static func next(
        _ random: inout SeededRandom, circuits: Int, permits: Int, mayRestart: Bool
    ) -> HistoryAct {
        let circuit = Int.random(in: 0..<circuits, using: &random)
        let outcome: RecordedOutcome = Int.random(in: 0..<10, using: &random) < 7 ? .failure : .success
        if permits > 0, Int.random(in: 0..<10, using: &random) < 4 {
            let permit = Int.random(in: 0..<permits, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return .report(permit: permit, .ignored, isLater: true)
            case 1: return .report(permit: permit, outcome, isLater: true)
            default: return .report(permit: permit, outcome, isLater: false)
            }
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<32: return .admit(circuit: circuit)
        case 32..<48: return .run(circuit: circuit, outcome)
        case 48..<50: return .run(circuit: circuit, .ignored)
        case 50..<62: return .record(circuit: circuit, .failure)
        case 62..<65: return .record(circuit: circuit, .success)
        case 65..<77: return .look(circuit: circuit)
        case 77..<82: return .ask(circuit: circuit)
        case 82..<86: return .operate(circuit: circuit, .reset)
        case 86..<88: return .operate(circuit: circuit, .holdOpen)
        case 88..<90: return .operate(circuit: circuit, .holdClosed)
        case 90..<93: return .operate(circuit: circuit, .release)
        case 93..<97: return .operate(circuit: circuit, .probe)
        case 97..<98: return .operate(circuit: circuit, .forget)
        default: return mayRestart ? .restart : .ask(circuit: circuit)
        }
    }
}
