#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// What the killer knows of one of its children.
    struct Hand {
        let pid: pid_t
        let pipe: Int32
        let process: Int
        var listener = Listener()
        /// Where it died, as far as it said so.
        private(set) var place = Place.random
        private(set) var calls = 0
        /// The number of the SQLite with which it has opened the store.
        private(set) var version: Int64?
        private let start = KillLoop.uptime
        private var worker: Int64 = 0
        /// The places of its calls in the ledger, by number.
        private var acts: [Int64: Int] = [:]
        private var notes = 0
        private var dueAfter: Int?
        private var delay: Int64 = 0
        private var dueAt: Int64?

        init(pid: pid_t, pipe: Int32, process: Int, plan: Plan) {
            self.pid = pid
            self.pipe = pipe
            self.process = process
            switch plan.end {
            case .afterTime(let time): self.dueAt = KillLoop.uptime + time
            case .afterNotes(let count, let delay):
                self.dueAfter = count
                self.delay = delay
            case .atStep(let place, let step):
                switch place {
                // Once it is open it does not come there.
                case .open, .migration, .creation, .quarantine:
                    self.dueAfter = 2 + step
                case .random, .calls, .transaction, .checkpoint, .close: break
                }
            case .witness: break
            }
        }

        /// No call may take so long, however busy the machine.
        var isLost: Bool { KillLoop.uptime - self.start > 60_000_000 }

        var isDoomed: Bool { self.dueAt != nil }

        var isDue: Bool {
            guard let time = self.dueAt else { return false }
            return KillLoop.uptime >= time
        }

        mutating func take(_ note: Note, into ledger: inout Ledger) {
            self.notes += 1
            if let count = self.dueAfter, self.notes >= count, self.dueAt == nil {
                self.dueAt = KillLoop.uptime + self.delay
            }
            switch note.mark {
            case .opened:
                self.worker = note.number
                self.version = note.what
            case .began:
                guard let verb = Verb(rawValue: note.what >> 8) else { return }
                self.acts[note.number] = ledger.acts.count
                self.calls += 1
                ledger.acts.append(
                    Act(
                        process: self.process,
                        worker: self.worker,
                        number: note.number,
                        verb: verb,
                        circuit: Int(note.what & 0xff),
                        detail: note.detail,
                        start: note.time
                    )
                )
            case .done:
                guard let act = self.acts.removeValue(forKey: note.number) else { return }
                ledger.acts[act].end = note.time
                ledger.acts[act].isAcknowledged = note.what == 1
                ledger.acts[act].outcome = Outcome(rawValue: note.detail)
            case .dying: self.place = Place(rawValue: Int(note.what)) ?? .random
            case .complaint: break
            }
        }

        /// It is dead: what it had begun has happened by now, or never will.
        func end(in ledger: inout Ledger) {
            let now = KillLoop.uptime
            for index in ledger.acts.indices where ledger.acts[index].process == self.process {
                let act = ledger.acts[index]
                // The store's thread leaves the slot afterwards.
                if !act.isAcknowledged || act.verb == .permitDiscard { ledger.acts[index].end = now }
            }
        }
    }
}
