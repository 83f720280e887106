@testable import BreakerStore

/// A wrong line, put around the real values, that must break a promise.
enum Plant: String, CaseIterable {
    // Around the circuit.
    case epochOfReportIgnored, epochStaysAtReset, epochFloorForgotten, leaseOfProbeIgnored
    case probesKeptAtTransition, probeBeyondLimit, deadKeepSlots, slotNotGivenBack
    case openForEver, tripToldTwice, tripNotTold, holdKeptAtRelease, holdLostAtCall
    case reportToldAgainAsNew, staleCircuitWritten, failureNotKept
    // Around the life.
    case acknowledgedBeforeCommit, twoLead, lossForgetsTickets, gatesShutTooLate, threadNeverWoken, taskNotWoken
    case takenTicketsForgotten

    /// The promise that it breaks.
    var breaks: Promise {
        switch self {
        case .epochOfReportIgnored, .epochStaysAtReset, .epochFloorForgotten, .leaseOfProbeIgnored: .late
        case .probeBeyondLimit: .probes
        case .probesKeptAtTransition, .slotNotGivenBack: .slots
        case .deadKeepSlots, .openForEver: .probedAgain
        case .tripToldTwice, .tripNotTold: .oneTrip
        case .holdKeptAtRelease, .holdLostAtCall: .held
        case .reportToldAgainAsNew: .once
        case .staleCircuitWritten, .failureNotKept, .acknowledgedBeforeCommit: .acknowledged
        case .twoLead: .oneLeader
        case .gatesShutTooLate: .gates
        case .threadNeverWoken, .lossForgetsTickets, .takenTicketsForgotten: .woken
        case .taskNotWoken: .ends
        }
    }

    /// What a wrong machine would have made of a change.
    func spoil(_ circuit: inout Circuit, _ before: Circuit, _ events: inout [Transition], at now: StoreTime) {
        switch self {
        case .epochStaysAtReset: if events.contains(where: { $0.kind == .reset }) { circuit.epoch = before.epoch }
        case .probesKeptAtTransition: if circuit.epoch != before.epoch { circuit.probes += before.probes }
        case .openForEver:
            if case .open = circuit.state { circuit.state = .open(until: StoreTime(microseconds: .max)) }
        case .tripToldTwice: events += events.filter { $0.kind == .tripped }
        case .tripNotTold: events.removeAll { $0.kind == .tripped }
        case .holdKeptAtRelease: if events.contains(where: { $0.kind == .released }) { circuit.hold = before.hold }
        case .holdLostAtCall: if before.hold(at: now) != nil, circuit.epoch == before.epoch { circuit.hold = nil }
        case .epochOfReportIgnored, .epochFloorForgotten, .leaseOfProbeIgnored, .probeBeyondLimit, .deadKeepSlots,
            .slotNotGivenBack, .reportToldAgainAsNew, .staleCircuitWritten, .failureNotKept, .acknowledgedBeforeCommit,
            .twoLead, .lossForgetsTickets, .gatesShutTooLate, .threadNeverWoken, .taskNotWoken,
            .takenTicketsForgotten:
            break
        }
    }
}
