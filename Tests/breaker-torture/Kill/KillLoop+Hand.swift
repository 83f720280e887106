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
        private let logs: [CallLog]
        private let start = KillLoop.uptime
        private var line: [UInt8] = []
        private var dueAfter: Int?
        private var delay: Int64 = 0
        private var dueAt: Int64?

        /// - Parameter logs: those of its callers; none if it is no worker.
        init(pid: pid_t, pipe: Int32, process: Int, plan: Plan, _ logs: [CallLog]) {
            self.pid = pid
            self.pipe = pipe
            self.process = process
            self.logs = logs
            switch plan.end {
            case .afterTime(let time): self.dueAt = KillLoop.uptime + time
            case .afterCalls(let count, let delay):
                self.dueAfter = count
                self.delay = delay
            case .atStep(let place, let step):
                switch place {
                // Once it is open it does not come there.
                case .open, .migration, .creation, .quarantine:
                    self.dueAfter = step / 2
                case .random, .calls, .transaction, .checkpoint, .close: break
                }
            case .witness: break
            }
        }

        /// Where it died, as far as it said so.
        var place: Place { self.logs.first.flatMap { Place(rawValue: Int($0[.place])) } ?? .random }
        /// The number of the SQLite with which it has opened the store; zero if it has not.
        var version: Int64 { self.logs.first?[.version] ?? 0 }
        private var worker: Int64 { self.logs.first?[.worker] ?? 0 }

        /// No call may take so long, however busy the machine.
        var isLost: Bool { KillLoop.uptime - self.start > 300_000_000 }

        /// Whether the killer has to look at what it does.
        var isWatched: Bool { self.dueAt != nil || self.dueAfter != nil }

        var isDue: Bool {
            guard let time = self.dueAt else { return false }
            return KillLoop.uptime >= time
        }

        /// Looks at how many calls it has begun.
        mutating func watch() {
            guard let count = self.dueAfter, self.dueAt == nil, self.worker != 0,
                self.logs.reduce(0, { $0 + $1.count }) >= count
            else { return }
            self.dueAt = KillLoop.uptime + self.delay
        }

        /// Puts together what it says through its pipe; returns the lines that are whole.
        mutating func hear(_ more: ArraySlice<UInt8>) -> [String] {
            self.line += more
            let end = UInt8(ascii: "\n")
            let lines = self.line.split(separator: end, omittingEmptySubsequences: false)
            self.line = Array(lines.last ?? [])
            return lines.dropLast().map { String(decoding: $0, as: UTF8.self) }
        }

        /// All its calls, once it is dead: what it had begun has happened by now, or never will.
        func calls() -> [NotedCall] {
            let now = KillLoop.uptime
            return self.logs.enumerated().flatMap { lane, log in
                log.records.enumerated().map { number, record in
                    NotedCall(
                        record, process: self.process, worker: self.worker, lane: lane, number: number, endsBy: now)
                }
            }
        }
    }
}
