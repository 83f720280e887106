@testable import BreakerStore

/// A store's life once more, as plainly as can be: what the random walk holds the real one against.
struct LifeModel {
    private struct Waiting {
        var number: Int
        var deadline: Int
    }

    private static let maintenanceInterval = 1_000
    private static let longestPause = 1_000

    private var phase = "healthy"
    private var isLost = false
    private var obstacle: String?
    private var mayCacheDecisions = false
    private var leader = "nobody"
    private var isWanted = false
    private var waiting: [Waiting] = []
    private var hurries = false
    private var deadlines: [Int: Int] = [:]
    private var checkpoint = "notDue"
    private var pause = 0
    private var retryAt = Int.min
    private var calmAt = Int.min
    private var lookAt: Int?
    private var closeBy = Int.max
    private var sweptAt: Int?
    private var usesCircuits = false

    private var isHealthy: Bool { self.phase == "healthy" }
    private var takesIn: Bool { self.isHealthy || self.phase == "closing" && !self.isLost }
    private var numbers: [Int] { self.waiting.map(\.number) }

    var facts: [String: String] {
        [
            "phase": self.phase + (self.phase == "closing" && self.isLost ? ", lost" : ""),
            "lead": self.leader + (self.isWanted ? ", wanted" : ""),
            "obstacle": self.phase == "closed" ? "none" : self.obstacle ?? "none",
            "waiting": "\(self.numbers)",
            "hurry": "\(self.hurries)",
            "checkpoint": self.checkpoint,
            "gates": self.isHealthy && self.mayCacheDecisions ? "open" : "shut",
            "circuits": self.usesCircuits ? "used" : "none",
        ]
    }

    mutating func happen(_ event: LifeEvent, at now: Int) -> LifeReply {
        switch event {
        case .opened(let counts): self.mayCacheDecisions = counts
        case .lost: return self.lose(at: now)
        case .openingFailed: if self.phase.hasPrefix("degraded") { self.obstacle = "notFound" }
        case .recovered:
            guard self.phase.hasPrefix("degraded") else { break }
            self.phase = "healthy"
            self.obstacle = nil
            return LifeReply(decision: "was lost")
        case .closeRequested:
            guard self.phase != "closing", self.phase != "closed" else { break }
            self.isLost = !self.isHealthy
            self.phase = "closing"
            self.closeBy = now + LifeEvent.closingTime
            return LifeReply(wakes: true)
        case .closed: return self.close()
        case .submitted(let number, let submitter, let deadline): return self.submit(number, submitter, deadline)
        case .startRound:
            self.hurries = false
            return LifeReply(decision: self.waiting.isEmpty ? "nothing to do" : "has work")
        case .fileLocked: return LifeReply(decision: "takes \(self.drainAll())")
        case .handleBusyFile: return self.findBusy(at: now)
        case .commitEnded(let isLost, let frames): return self.endCommit(isLost, frames, at: now)
        case .acquireLeadForRead:
            guard self.isHealthy, self.leader == "nobody" else { return LifeReply(decision: "may not") }
            self.leader = "reader"
            return LifeReply(decision: "may look")
        case .leadEnded:
            let isHandedOver = self.isWanted || !self.waiting.isEmpty
            self.leader = isHandedOver ? "thread" : "nobody"
            self.isWanted = false
            return LifeReply(wakes: isHandedOver)
        case .releaseLeadIfIdle:
            guard self.waiting.isEmpty else { return LifeReply(decision: "goes on") }
            self.leader = "nobody"
            self.isWanted = false
            return LifeReply(decision: "done")
        case .acquireLeadForThread: return LifeReply(decision: self.wantLead() ? "leads" : "waits")
        case .waiterGaveUp(let number):
            guard self.deadlines[number] != nil else { break }
            return LifeReply(decision: self.withdraw(number) ? "withdrawn" : "had begun")
        case .nextThreadWork: return self.schedule(at: now)
        case .claimDueCheckpoint:
            guard self.checkpoint != "notDue" else { break }
            self.checkpoint = "notDue"
            return LifeReply(decision: "copies")
        case .setMaintenanceDue: self.lookAt = now
        case .idleSweepBegan:
            if let sweptAt = self.sweptAt, now - sweptAt < LifeEvent.idlePause { break }
            self.sweptAt = now
            return LifeReply(decision: "looks")
        case .handlesWereMade:
            self.usesCircuits = true
            return LifeReply(wakes: self.lookAt == nil)
        case .circuitsWereDropped(let areOthersLeft): self.usesCircuits = areOthersLeft
        }
        return LifeReply()
    }

    // MARK: - Parts

    private mutating func drainAll() -> [Int] {
        defer { self.waiting = [] }
        self.hurries = false
        return self.numbers
    }

    private mutating func lose(at now: Int) -> LifeReply {
        guard self.takesIn else { return LifeReply() }
        if self.isHealthy { self.phase = "degraded since \(now)" } else { self.isLost = true }
        return LifeReply(failed: self.drainAll().sorted(), code: .full, wakes: true)
    }

    private mutating func close() -> LifeReply {
        self.phase = "closed"
        return LifeReply(failed: self.drainAll().sorted(), code: .closed)
    }

    private mutating func submit(_ number: Int, _ submitter: LifeEvent.Submitter, _ deadline: Int) -> LifeReply {
        self.deadlines[number] = deadline
        guard self.takesIn else {
            return LifeReply(decision: "refused (\(self.phase == "closed" ? "closed" : self.obstacle ?? "full"))")
        }
        self.waiting.append(Waiting(number: number, deadline: deadline))
        var reply = LifeReply(decision: "waits")
        // The thread syncs the log, and leads next.
        guard self.leader == "nobody", submitter == .thread || self.checkpoint != "synced" else { return reply }
        if submitter == .thread {
            self.leader = "caller"
            reply.decision = "leads"
        } else {
            self.leader = "thread"
            reply.wakes = true
        }
        return reply
    }

    private mutating func findBusy(at now: Int) -> LifeReply {
        let late = self.waiting.filter { $0.deadline <= now }.map(\.number)
        guard !late.isEmpty else {
            return LifeReply(decision: self.hurries || self.waiting.isEmpty ? "gives up" : "goes on")
        }
        self.waiting.removeAll { late.contains($0.number) }
        var reply = self.lose(at: now)
        reply.decision = "gives up"
        reply.code = .full
        reply.failed = (reply.failed + late).sorted()
        return reply
    }

    private mutating func endCommit(_ isLost: Bool, _ frames: Int, at now: Int) -> LifeReply {
        var reply = isLost ? self.lose(at: now) : LifeReply()
        if frames >= 200, self.checkpoint == "notDue" {
            self.checkpoint = "due"
            reply.wakes = true
        }
        if frames >= 230 { _ = self.wantLead() }
        return reply
    }

    private mutating func wantLead() -> Bool {
        if self.leader == "nobody" { self.leader = "thread" }
        if self.leader != "thread" { self.isWanted = true }
        return self.leader == "thread"
    }

    private mutating func withdraw(_ number: Int) -> Bool {
        guard self.numbers.contains(number) else { return false }
        self.waiting.removeAll { $0.number == number }
        self.hurries = true
        return true
    }

    private mutating func schedule(at now: Int) -> LifeReply {
        switch self.phase {
        case "healthy": return LifeReply(decision: self.scheduleHealthy(at: now))
        case "closing", "closed":
            if self.wantLead() { return LifeReply(decision: "finishes") }
            if self.phase == "closed" { return LifeReply(decision: "sleeps") }
            if now < self.closeBy { return LifeReply(decision: "sleeps until \(self.closeBy)") }
            var reply = self.close()
            reply.decision = "sleeps"
            return reply
        default:
            if now < self.retryAt { return LifeReply(decision: "sleeps until \(self.retryAt)") }
            guard self.wantLead() else { return LifeReply(decision: "sleeps") }
            self.pause = now >= self.calmAt ? DrivenLife.firstRetry : min(self.pause * 2, Self.longestPause)
            self.retryAt = now + self.pause
            self.calmAt = self.retryAt + Self.longestPause * 2
            return LifeReply(decision: "recovers")
        }
    }

    private mutating func scheduleHealthy(at now: Int) -> String {
        if self.checkpoint == "due" {
            self.checkpoint = "synced"
            return "syncs the log"
        }
        if self.checkpoint == "synced" { _ = self.wantLead() }
        if self.leader == "thread" { return "leads" }
        if !self.usesCircuits, self.lookAt.map({ $0 > now }) ?? true {
            self.lookAt = nil
            return "sleeps"
        }
        let time = self.lookAt ?? now + Self.maintenanceInterval
        self.lookAt = time <= now ? now + Self.maintenanceInterval : time
        return time <= now ? "looks around" : "sleeps until \(time)"
    }
}
