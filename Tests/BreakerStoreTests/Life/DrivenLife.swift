import FoundationEssentials

@testable import BreakerStore

/// A store's life with tickets that have numbers, and a clock that a test sets.
struct DrivenLife {
    final class NumberedTicket: AnyTicket {
        let number: Int
        let deadline: Deadline

        init(_ number: Int, _ deadline: Deadline) {
            self.number = number
            self.deadline = deadline
        }

        func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void { {} }
        func fail(_ error: BreakerStoreError) -> Bool { true }
    }

    static let firstRetry = 50
    private static let start = ContinuousClock.now

    var life = StoreLife(path: "/a", firstRetry: .milliseconds(Self.firstRetry), maintainsAlways: false)
    private(set) var tickets: [Int: NumberedTicket] = [:]

    /// Has it happen at that time, in milliseconds.
    mutating func happen(_ event: LifeEvent, at time: Int) -> LifeReply {
        let now = Self.instant(time)
        let loss = StoreLife.Loss(
            since: Date(timeIntervalSince1970: Double(time)), error: BreakerStoreError(code: .full, message: "lost"))
        switch event {
        case .opened(let counts):
            self.life.opened(mayCacheDecisions: counts)
            return LifeReply()
        case .lost: return Self.reply(self.life.lost(loss))
        case .openingFailed:
            self.life.openingFailed(BreakerStoreError(code: .notFound, message: "no directory"))
            return LifeReply()
        case .recovered: return LifeReply(decision: self.life.recovered() == nil ? "" : "was lost")
        case .closeRequested:
            return Self.reply(self.life.closeRequested(until: Self.deadline(time + LifeEvent.closingTime)))
        case .closed: return Self.reply(self.life.closed())
        case .submitted(let number, let submitter, let deadline):
            let ticket = NumberedTicket(number, Self.deadline(deadline))
            self.tickets[number] = ticket
            let (action, actions) = self.life.submitted(ticket, by: submitter.known)
            return Self.reply(actions, Self.word(action))
        case .startRound: return LifeReply(decision: self.life.startRound() ? "has work" : "nothing to do")
        case .fileLocked: return LifeReply(decision: "takes \(Self.numbers(self.life.fileLocked()))")
        case .handleBusyFile:
            let (givesUp, actions) = self.life.handleBusyFile(loss, at: now)
            return Self.reply(actions, givesUp ? "gives up" : "goes on")
        case .commitEnded(let isLost, let frames):
            return Self.reply(self.life.commitEnded(isLost ? loss : nil, pendingFrames: frames))
        case .acquireLeadForRead: return LifeReply(decision: self.life.acquireLeadForRead() ? "may look" : "may not")
        case .leadEnded: return Self.reply(self.life.leadEnded())
        case .releaseLeadIfIdle: return LifeReply(decision: self.life.releaseLeadIfIdle() ? "done" : "goes on")
        case .acquireLeadForThread: return LifeReply(decision: self.life.acquireLeadForThread() ? "leads" : "waits")
        case .waiterGaveUp(let number):
            guard let ticket = self.tickets[number] else { return LifeReply() }
            return LifeReply(decision: self.life.waiterGaveUp(ticket) ? "had begun" : "withdrawn")
        case .nextThreadWork:
            let (work, actions) = self.life.nextThreadWork(at: now)
            return Self.reply(actions, Self.word(work))
        case .claimDueCheckpoint: return LifeReply(decision: self.life.claimDueCheckpoint() ? "copies" : "")
        case .setMaintenanceDue:
            self.life.setMaintenanceDue(at: now)
            return LifeReply()
        case .idleSweepBegan:
            let isDue = self.life.claimIdleSweep(at: Int64(time), every: Int64(LifeEvent.idlePause))
            return LifeReply(decision: isDue ? "looks" : "")
        case .handlesWereMade: return Self.reply(self.life.handlesWereMade())
        case .circuitsWereDropped(let areOthersLeft):
            self.life.circuitsWereDropped(areOthersLeft: areOthersLeft)
            return LifeReply()
        }
    }

    /// All that can be seen of the life, in words.
    var facts: [String: String] {
        let phase =
            switch self.life.phase {
            case .healthy: "healthy"
            case .degraded(let loss): "degraded since \(Int(loss.since.timeIntervalSince1970))"
            case .closing(nil): "closing"
            case .closing(_?): "closing, lost"
            case .closed: "closed"
            }
        return [
            "phase": phase,
            "lead": "\(self.life.lead)\(self.life.isLeadWanted ? ", wanted" : "")",
            "obstacle": self.life.loss?.obstacle.map { "\($0.code)" } ?? "none",
            "waiting": "\(Self.numbers(self.life.waiting))",
            "hurry": "\(self.life.hasTimedOutWaiter)",
            "checkpoint": "\(self.life.checkpoint)",
            "gates": self.life.opensGates ? "open" : "shut",
            "circuits": self.life.usesCircuits ? "used" : "none",
        ]
    }

    // MARK: - In words

    static func list(_ words: [String]) -> String { "[\(words.sorted().joined(separator: ", "))]" }

    static func instant(_ time: Int) -> ContinuousClock.Instant { Self.start + .milliseconds(time) }
    static func deadline(_ time: Int) -> Deadline { Deadline(at: Self.instant(time)) }

    private static func milliseconds(_ deadline: Deadline) -> Int {
        Int((deadline.instant - Self.start) / .milliseconds(1))
    }

    private static func numbers(_ tickets: [any AnyTicket]) -> [Int] {
        tickets.compactMap { ($0 as? NumberedTicket)?.number }
    }

    private static func reply(_ actions: StoreLife.Actions, _ decision: String = "") -> LifeReply {
        LifeReply(
            decision: decision,
            failed: Self.numbers(actions.failed).sorted(),
            code: actions.error?.code,
            wakes: actions.wakesThread
        )
    }

    private static func word(_ action: StoreLife.SubmitAction) -> String {
        switch action {
        case .refuse(let error): "refused (\(error.code))"
        case .lead: "leads"
        case .wait: "waits"
        }
    }

    private static func word(_ work: StoreLife.ThreadWork) -> String {
        switch work {
        case .syncLog: "syncs the log"
        case .lead: "leads"
        case .recover: "recovers"
        case .maintenance: "looks around"
        case .finish: "finishes"
        case .sleep(until: let time):
            time.map { "sleeps until \(Self.milliseconds(Deadline(at: $0)))" } ?? "sleeps"
        }
    }
}

extension LifeEvent.Submitter {
    fileprivate var known: StoreLife.Submitter {
        switch self {
        case .thread: .thread
        case .task: .task
        case .nobody: .nobody
        }
    }
}
