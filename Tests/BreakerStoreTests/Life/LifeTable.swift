@testable import BreakerStore

/// What each event leads to, and what is different afterwards, in words.
enum LifeTable {
    struct Column: Sendable, CustomStringConvertible {
        let name: String
        let effects: [(event: LifeEvent, effect: String)]

        init(_ name: String, _ effects: [(event: LifeEvent, effect: String)]) {
            self.name = name
            self.effects = effects
        }

        var description: String { self.name }
    }

    /// In each phase, before which a task's ticket 1 and a thread's ticket 2 were submitted; nobody leads.
    static let phases: [Column] = [
        Column(
            "healthy",
            [
                (.opened(mayCacheDecisions: true), ""),
                (.opened(mayCacheDecisions: false), "gates: shut"),
                (.lost, "fails [1, 2] (full), wakes; gates: shut; phase: degraded since 1000; waiting: []"),
                (.openingFailed, ""),
                (.recovered, ""),
                (.closeRequested, "wakes; gates: shut; phase: closing"),
                (.closed, "fails [1, 2] (closed); gates: shut; phase: closed; waiting: []"),
                (.submitted(9, by: .thread, deadline: 1100), "leads; lead: caller; waiting: [1, 2, 9]"),
                (
                    .submitted(9, by: .task, deadline: 1100),
                    "waits, wakes; lead: thread; waiting: [1, 2, 9]"
                ),
                (.submitted(9, by: .nobody, deadline: 1100), "waits, wakes; lead: thread; waiting: [1, 2, 9]"),
                (.startRound, "has work"),
                (.fileLocked, "takes [1, 2]; waiting: []"),
                (
                    .handleBusyFile,
                    "gives up, fails [1, 2] (full), wakes; gates: shut; phase: degraded since 1000; waiting: []"
                ),
                (.commitEnded(isLost: false, frames: 0), ""),
                (
                    .commitEnded(isLost: true, frames: 0),
                    "fails [1, 2] (full), wakes; gates: shut; phase: degraded since 1000; waiting: []"
                ),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (
                    .commitEnded(isLost: true, frames: 200),
                    "fails [1, 2] (full), wakes; checkpoint: due; gates: shut; phase: degraded since 1000; waiting: []"
                ),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (
                    .commitEnded(isLost: true, frames: 230),
                    "fails [1, 2] (full), wakes; checkpoint: due; gates: shut; lead: thread; phase: degraded since 1000; waiting: []"
                ),
                (.acquireLeadForRead, "may look; lead: reader"),
                (.leadEnded, "wakes; lead: thread"),
                (.releaseLeadIfIdle, "goes on"),
                (.acquireLeadForThread, "leads; lead: thread"),
                (.waiterGaveUp(1), "withdrawn; hurry: true; waiting: [2]"),
                (.waiterGaveUp(2), "withdrawn; hurry: true; waiting: [1]"),
                (.nextThreadWork, "sleeps until 2000"),
            ]
        ),
        Column(
            "degraded",
            [
                (.opened(mayCacheDecisions: true), ""),
                (.opened(mayCacheDecisions: false), ""),
                (.lost, ""),
                (.openingFailed, "obstacle: notFound"),
                (.recovered, "was lost; gates: open; phase: healthy"),
                (.closeRequested, "wakes; phase: closing, lost"),
                (.closed, "fails [] (closed); phase: closed"),
                (.submitted(9, by: .thread, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .task, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .nobody, deadline: 1100), "refused (full)"),
                (.startRound, "nothing to do"),
                (.fileLocked, "takes []"),
                (.handleBusyFile, "gives up"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (.commitEnded(isLost: true, frames: 0), ""),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: true, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.commitEnded(isLost: true, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, ""),
                (.releaseLeadIfIdle, "done"),
                (.acquireLeadForThread, "leads; lead: thread"),
                (.waiterGaveUp(1), "had begun"),
                (.waiterGaveUp(2), "had begun"),
                (.nextThreadWork, "recovers; lead: thread"),
            ]
        ),
        Column(
            "closing",
            [
                (.opened(mayCacheDecisions: true), ""),
                (.opened(mayCacheDecisions: false), ""),
                (.lost, "fails [1, 2] (full), wakes; phase: closing, lost; waiting: []"),
                (.openingFailed, ""),
                (.recovered, ""),
                (.closeRequested, ""),
                (.closed, "fails [1, 2] (closed); phase: closed; waiting: []"),
                (.submitted(9, by: .thread, deadline: 1100), "leads; lead: caller; waiting: [1, 2, 9]"),
                (
                    .submitted(9, by: .task, deadline: 1100),
                    "waits, wakes; lead: thread; waiting: [1, 2, 9]"
                ),
                (.submitted(9, by: .nobody, deadline: 1100), "waits, wakes; lead: thread; waiting: [1, 2, 9]"),
                (.startRound, "has work"),
                (.fileLocked, "takes [1, 2]; waiting: []"),
                (.handleBusyFile, "gives up, fails [1, 2] (full), wakes; phase: closing, lost; waiting: []"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (
                    .commitEnded(isLost: true, frames: 0),
                    "fails [1, 2] (full), wakes; phase: closing, lost; waiting: []"
                ),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (
                    .commitEnded(isLost: true, frames: 200),
                    "fails [1, 2] (full), wakes; checkpoint: due; phase: closing, lost; waiting: []"
                ),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (
                    .commitEnded(isLost: true, frames: 230),
                    "fails [1, 2] (full), wakes; checkpoint: due; lead: thread; phase: closing, lost; waiting: []"
                ),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, "wakes; lead: thread"),
                (.releaseLeadIfIdle, "goes on"),
                (.acquireLeadForThread, "leads; lead: thread"),
                (.waiterGaveUp(1), "withdrawn; hurry: true; waiting: [2]"),
                (.waiterGaveUp(2), "withdrawn; hurry: true; waiting: [1]"),
                (.nextThreadWork, "finishes; lead: thread"),
            ]
        ),
        Column(
            "closing, lost",
            [
                (.opened(mayCacheDecisions: true), ""),
                (.opened(mayCacheDecisions: false), ""),
                (.lost, ""),
                (.openingFailed, ""),
                (.recovered, ""),
                (.closeRequested, ""),
                (.closed, "fails [] (closed); phase: closed"),
                (.submitted(9, by: .thread, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .task, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .nobody, deadline: 1100), "refused (full)"),
                (.startRound, "nothing to do"),
                (.fileLocked, "takes []"),
                (.handleBusyFile, "gives up"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (.commitEnded(isLost: true, frames: 0), ""),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: true, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.commitEnded(isLost: true, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, ""),
                (.releaseLeadIfIdle, "done"),
                (.acquireLeadForThread, "leads; lead: thread"),
                (.waiterGaveUp(1), "had begun"),
                (.waiterGaveUp(2), "had begun"),
                (.nextThreadWork, "finishes; lead: thread"),
            ]
        ),
        Column(
            "closed",
            [
                (.opened(mayCacheDecisions: true), ""),
                (.opened(mayCacheDecisions: false), ""),
                (.lost, ""),
                (.openingFailed, ""),
                (.recovered, ""),
                (.closeRequested, ""),
                (.closed, "fails [] (closed)"),
                (.submitted(9, by: .thread, deadline: 1100), "refused (closed)"),
                (.submitted(9, by: .task, deadline: 1100), "refused (closed)"),
                (.submitted(9, by: .nobody, deadline: 1100), "refused (closed)"),
                (.startRound, "nothing to do"),
                (.fileLocked, "takes []"),
                (.handleBusyFile, "gives up"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (.commitEnded(isLost: true, frames: 0), ""),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: true, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.commitEnded(isLost: true, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, ""),
                (.releaseLeadIfIdle, "done"),
                (.acquireLeadForThread, "leads; lead: thread"),
                (.waiterGaveUp(1), "had begun"),
                (.waiterGaveUp(2), "had begun"),
                (.nextThreadWork, "finishes; lead: thread"),
            ]
        ),
    ]

    /// In every phase.
    static let always: [(event: LifeEvent, effect: String)] = [
        (.claimDueCheckpoint, ""),
        (.setMaintenanceDue, ""),
        (.idleSweepBegan, "looks"),
        (.handlesWereMade, "wakes"),
        (.circuitsWereDropped(areOthersLeft: true), ""),
        (.circuitsWereDropped(areOthersLeft: false), "circuits: none"),
    ]

    /// While the store is healthy, under each leader.
    static let leads: [Column] = [
        Column(
            "nobody",
            [
                (.submitted(9, by: .thread, deadline: 1100), "leads; lead: caller; waiting: [1, 2, 9]"),
                (
                    .submitted(9, by: .task, deadline: 1100),
                    "waits, wakes; lead: thread; waiting: [1, 2, 9]"
                ),
                (.submitted(9, by: .nobody, deadline: 1100), "waits, wakes; lead: thread; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.acquireLeadForRead, "may look; lead: reader"),
                (.leadEnded, "wakes; lead: thread"),
                (.releaseLeadIfIdle, "goes on"),
                (.acquireLeadForThread, "leads; lead: thread"),
                (.nextThreadWork, "sleeps until 2000"),
            ]
        ),
        Column(
            "caller",
            [
                (.submitted(9, by: .thread, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .task, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .nobody, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: caller, wanted"),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, "wakes; lead: thread"),
                (.releaseLeadIfIdle, "goes on"),
                (.acquireLeadForThread, "waits; lead: caller, wanted"),
                (.nextThreadWork, "sleeps until 2000"),
            ]
        ),
        Column(
            "reader",
            [
                (.submitted(9, by: .thread, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .task, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .nobody, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: reader, wanted"),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, "wakes; lead: thread"),
                (.releaseLeadIfIdle, "goes on"),
                (.acquireLeadForThread, "waits; lead: reader, wanted"),
                (.nextThreadWork, "sleeps until 2000"),
            ]
        ),
        Column(
            "thread",
            [
                (.submitted(9, by: .thread, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .task, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .nobody, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due"),
                (.acquireLeadForRead, "may not"),
                (.leadEnded, "wakes"),
                (.releaseLeadIfIdle, "goes on"),
                (.acquireLeadForThread, "leads"),
                (.nextThreadWork, "leads"),
            ]
        ),
    ]
}
