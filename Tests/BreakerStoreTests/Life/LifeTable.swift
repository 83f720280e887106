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
                (.opened(mayKeepAnswers: true), ""),
                (.opened(mayKeepAnswers: false), "gates: shut"),
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
                (.roundBegan, "has work"),
                (.fileLocked, "takes [1, 2]; waiting: []"),
                (
                    .fileWasBusy,
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
                (.lookBegan, "may look; lead: looker"),
                (.leadEnded, "wakes; lead: thread"),
                (.threadEndedRound, "goes on"),
                (.threadWantsLead, "leads; lead: thread"),
                (.waiterGaveUp(1), "withdrawn; hurry: true; waiting: [2]"),
                (.waiterGaveUp(2), "withdrawn; hurry: true; waiting: [1]"),
                (.threadIsFree, "sleeps until 2000"),
            ]
        ),
        Column(
            "degraded",
            [
                (.opened(mayKeepAnswers: true), ""),
                (.opened(mayKeepAnswers: false), ""),
                (.lost, ""),
                (.openingFailed, "obstacle: notFound"),
                (.recovered, "was lost; gates: open; phase: healthy"),
                (.closeRequested, "wakes; phase: closing, lost"),
                (.closed, "fails [] (closed); phase: closed"),
                (.submitted(9, by: .thread, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .task, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .nobody, deadline: 1100), "refused (full)"),
                (.roundBegan, "nothing to do"),
                (.fileLocked, "takes []"),
                (.fileWasBusy, "gives up"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (.commitEnded(isLost: true, frames: 0), ""),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: true, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.commitEnded(isLost: true, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.lookBegan, "may not"),
                (.leadEnded, ""),
                (.threadEndedRound, "done"),
                (.threadWantsLead, "leads; lead: thread"),
                (.waiterGaveUp(1), "had begun"),
                (.waiterGaveUp(2), "had begun"),
                (.threadIsFree, "recovers; lead: thread"),
            ]
        ),
        Column(
            "closing",
            [
                (.opened(mayKeepAnswers: true), ""),
                (.opened(mayKeepAnswers: false), ""),
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
                (.roundBegan, "has work"),
                (.fileLocked, "takes [1, 2]; waiting: []"),
                (.fileWasBusy, "gives up, fails [1, 2] (full), wakes; phase: closing, lost; waiting: []"),
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
                (.lookBegan, "may not"),
                (.leadEnded, "wakes; lead: thread"),
                (.threadEndedRound, "goes on"),
                (.threadWantsLead, "leads; lead: thread"),
                (.waiterGaveUp(1), "withdrawn; hurry: true; waiting: [2]"),
                (.waiterGaveUp(2), "withdrawn; hurry: true; waiting: [1]"),
                (.threadIsFree, "finishes; lead: thread"),
            ]
        ),
        Column(
            "closing, lost",
            [
                (.opened(mayKeepAnswers: true), ""),
                (.opened(mayKeepAnswers: false), ""),
                (.lost, ""),
                (.openingFailed, ""),
                (.recovered, ""),
                (.closeRequested, ""),
                (.closed, "fails [] (closed); phase: closed"),
                (.submitted(9, by: .thread, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .task, deadline: 1100), "refused (full)"),
                (.submitted(9, by: .nobody, deadline: 1100), "refused (full)"),
                (.roundBegan, "nothing to do"),
                (.fileLocked, "takes []"),
                (.fileWasBusy, "gives up"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (.commitEnded(isLost: true, frames: 0), ""),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: true, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.commitEnded(isLost: true, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.lookBegan, "may not"),
                (.leadEnded, ""),
                (.threadEndedRound, "done"),
                (.threadWantsLead, "leads; lead: thread"),
                (.waiterGaveUp(1), "had begun"),
                (.waiterGaveUp(2), "had begun"),
                (.threadIsFree, "finishes; lead: thread"),
            ]
        ),
        Column(
            "closed",
            [
                (.opened(mayKeepAnswers: true), ""),
                (.opened(mayKeepAnswers: false), ""),
                (.lost, ""),
                (.openingFailed, ""),
                (.recovered, ""),
                (.closeRequested, ""),
                (.closed, "fails [] (closed)"),
                (.submitted(9, by: .thread, deadline: 1100), "refused (closed)"),
                (.submitted(9, by: .task, deadline: 1100), "refused (closed)"),
                (.submitted(9, by: .nobody, deadline: 1100), "refused (closed)"),
                (.roundBegan, "nothing to do"),
                (.fileLocked, "takes []"),
                (.fileWasBusy, "gives up"),
                (.commitEnded(isLost: false, frames: 0), ""),
                (.commitEnded(isLost: true, frames: 0), ""),
                (.commitEnded(isLost: false, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: true, frames: 200), "wakes; checkpoint: due"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.commitEnded(isLost: true, frames: 230), "wakes; checkpoint: due; lead: thread"),
                (.lookBegan, "may not"),
                (.leadEnded, ""),
                (.threadEndedRound, "done"),
                (.threadWantsLead, "leads; lead: thread"),
                (.waiterGaveUp(1), "had begun"),
                (.waiterGaveUp(2), "had begun"),
                (.threadIsFree, "finishes; lead: thread"),
            ]
        ),
    ]

    /// In every phase.
    static let always: [(event: LifeEvent, effect: String)] = [
        (.checkpointBegan, ""),
        (.lookAroundIsUnfinished, ""),
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
                (.lookBegan, "may look; lead: looker"),
                (.leadEnded, "wakes; lead: thread"),
                (.threadEndedRound, "goes on"),
                (.threadWantsLead, "leads; lead: thread"),
                (.threadIsFree, "sleeps until 2000"),
            ]
        ),
        Column(
            "caller",
            [
                (.submitted(9, by: .thread, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .task, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .nobody, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: caller, wanted"),
                (.lookBegan, "may not"),
                (.leadEnded, "wakes; lead: thread"),
                (.threadEndedRound, "goes on"),
                (.threadWantsLead, "waits; lead: caller, wanted"),
                (.threadIsFree, "sleeps until 2000"),
            ]
        ),
        Column(
            "looker",
            [
                (.submitted(9, by: .thread, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .task, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .nobody, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due; lead: looker, wanted"),
                (.lookBegan, "may not"),
                (.leadEnded, "wakes; lead: thread"),
                (.threadEndedRound, "goes on"),
                (.threadWantsLead, "waits; lead: looker, wanted"),
                (.threadIsFree, "sleeps until 2000"),
            ]
        ),
        Column(
            "thread",
            [
                (.submitted(9, by: .thread, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .task, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.submitted(9, by: .nobody, deadline: 1100), "waits; waiting: [1, 2, 9]"),
                (.commitEnded(isLost: false, frames: 230), "wakes; checkpoint: due"),
                (.lookBegan, "may not"),
                (.leadEnded, "wakes"),
                (.threadEndedRound, "goes on"),
                (.threadWantsLead, "leads"),
                (.threadIsFree, "leads"),
            ]
        ),
    ]
}
