import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// One file from its creation on: workers in waves, and a look at it after each.
    struct Round {
        private static let crowd = 4

        let path: String
        private let directory: String
        private var random: SeededRandom
        private let isShort: Bool
        private let libraries: [String]
        private var ledger = Ledger()
        private var waiting: [Plan] = []
        private var hands: [Hand] = []
        private var processes = 0
        private var lost: Set<pid_t> = []
        private let parent = getppid()
        private(set) var counts: [String: Int] = [:]
        private(set) var violations: [String] = []

        init(directory: String, seed: UInt64, isShort: Bool, libraries: [String]) {
            self.directory = directory
            self.path = directory + "/a.db"
            self.random = SeededRandom(seed: seed)
            self.isShort = isShort
            self.libraries = libraries
        }

        mutating func run() {
            do {
                guard unsafe mkdir(self.directory, 0o700) == 0 else { throw SystemError("make \(self.directory)") }
                let isOld = Bool.random(using: &self.random)
                if isOld { try self.makeOldFile() }
                var waves: [Wave] = [isOld ? .migration : .creation, .calls, .checkpoint]
                waves += self.isShort ? [.quarantine] : [.calls, .calls, .checkpoint, .quarantine, .calls]
                for wave in waves where self.violations.isEmpty { try self.play(wave) }
            } catch {
                self.violations.append("the harness itself failed: \(error)")
            }
            if self.violations.isEmpty { Directory.remove(self.directory) }
        }

        private mutating func play(_ wave: Wave) throws {
            var garbage: [UInt8]?
            switch wave {
            case .quarantine: garbage = try self.garble()
            case .creation, .migration, .calls, .checkpoint: break
            }
            let (kills, acts) = (self.counts["kills", default: 0], self.ledger.acts.count)
            self.waiting = wave.plans(using: &self.random)
            try self.playAll()
            // Whoever comes next opens what the dead have left.
            if self.counts["kills", default: 0] > kills { self.counts["recoveries", default: 0] += 1 }
            self.counts["commits", default: 0] += self.ledger.acts[acts...].count { $0.isCommit }
            self.waiting = [Plan(.witness, calls: 0, using: &self.random)]
            try self.playAll()
            try self.look()
            if let garbage, !Files.isKept(garbage, besides: self.path) {
                self.violations.append("the bytes of the broken file are gone")
            }
            self.counts["checks", default: 0] += 1
        }

        /// What nobody has open becomes no database at all, or one without its pages; nor does a log help.
        private mutating func garble() throws -> [UInt8] {
            var bytes = [UInt8](repeating: 0xA5, count: 20_000)
            if Bool.random(using: &self.random) {
                bytes.replaceSubrange(..<100, with: (FileBytes.read(self.path) ?? []).prefix(100))
            }
            try FileBytes.write(bytes, to: self.path)
            try FileBytes.write(
                [UInt8](repeating: 0xA5, count: Bool.random(using: &self.random) ? 0 : 9_000), to: self.path + "-wal")
            self.ledger = Ledger(wasGarbled: true)
            return bytes
        }

        private func makeOldFile() throws {
            let path = self.path
            let (pid, pipe) = try Killer.fork { _, _ in File.makeOld(path) ? 0 : 1 }
            close(pipe)
            guard Killer.wait(for: pid) == 0 else { throw SystemError("make an old file", code: EIO) }
        }

        /// In a process of its own, which may open the database.
        private mutating func look() throws {
            let (path, ledger) = (self.path, self.ledger)
            let (pid, pipe) = try Killer.fork { pipe, _ in
                for violation in Oracle.violations(of: path, ledger).prefix(20) {
                    let text = Array(violation.utf8.prefix(1_000))
                    Note(.complaint, Int64(text.count)).write(to: pipe, text)
                }
                return 0
            }
            self.hands = [Hand(pid: pid, pipe: pipe, process: -1, plan: Plan(.witness, calls: 0, using: &self.random))]
            self.waiting = []
            try self.playAll()
        }

        // MARK: - Workers

        private mutating func playAll() throws {
            while !self.waiting.isEmpty || !self.hands.isEmpty {
                while !self.waiting.isEmpty, self.hands.count < Self.crowd { try self.startNext() }
                var events = self.hands.map { pollfd(fd: $0.pipe, events: Int16(POLLIN), revents: 0) }
                _ = unsafe poll(&events, nfds_t(events.count), self.hands.contains { $0.isDoomed } ? 1 : 20)
                for index in self.hands.indices.reversed() {
                    if events[index].revents != 0 { self.hear(index) }
                }
                for hand in self.hands where hand.isDue { kill(hand.pid, SIGKILL) }
                for hand in self.hands where hand.isLost && !self.lost.contains(hand.pid) {
                    self.lost.insert(hand.pid)
                    self.violations.append("process \(hand.process) hangs")
                    kill(hand.pid, SIGKILL)
                }
                // Whoever asked for this round is gone.
                if getppid() != self.parent {
                    for hand in self.hands { kill(hand.pid, SIGKILL) }
                    exit(1)
                }
            }
        }

        private mutating func startNext() throws {
            let plan = self.waiting.removeFirst()
            self.processes += 1
            let (process, path) = (self.processes, self.path)
            let library = self.libraries.randomElement(using: &self.random)
            let (pid, pipe) = try Killer.fork { pipe, parent in
                let worker = Worker(process: process, plan: plan, path: path, pipe: pipe)
                guard let library else { return worker.run(childOf: parent) }
                return Recruit(worker, parent).start(library)
            }
            self.hands.append(Hand(pid: pid, pipe: pipe, process: process, plan: plan))
        }

        private mutating func hear(_ index: Int) {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe read(self.hands[index].pipe, &bytes, bytes.count)
            guard count > 0 else { return self.bury(index) }
            self.hands[index].listener.hear(bytes[..<count])
            while let (note, text) = self.hands[index].listener.next() {
                self.hands[index].take(note, into: &self.ledger)
                if note.mark == .complaint { self.violations.append(text) }
            }
        }

        private mutating func bury(_ index: Int) {
            let hand = self.hands.remove(at: index)
            close(hand.pipe)
            let code = Killer.wait(for: hand.pid)
            hand.end(in: &self.ledger)
            if hand.process < 0 {
                if code != 0 { self.violations.append("the look at the file ended with \(code)") }
            } else if code == -SIGKILL {
                self.counts["kills", default: 0] += 1
                self.counts[hand.place == .random ? "at random" : "in \(hand.place.name)", default: 0] += 1
            } else if code == 0 {
                self.counts["left alive", default: 0] += 1
            } else {
                self.violations.append("process \(hand.process) ended with \(code)")
            }
            self.counts["calls", default: 0] += hand.calls
            if let version = hand.version {
                self.counts[
                    "opened with SQLite \(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)",
                    default: 0] += 1
            }
        }
    }
}
