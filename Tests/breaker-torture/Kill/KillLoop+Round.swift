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
        /// Where the processes note their calls: not beside the store's files, of which each is known.
        private let logs: String
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
            self.logs = directory + "-calls"
            self.random = SeededRandom(seed: seed)
            self.isShort = isShort
            self.libraries = libraries
        }

        mutating func run() {
            do {
                for directory in [self.directory, self.logs] {
                    guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
                }
                let isOld = Bool.random(using: &self.random)
                if isOld { try self.makeOldFile() }
                var waves: [Wave] = [isOld ? .migration : .creation, .calls, .checkpoint]
                waves += self.isShort ? [.quarantine] : [.calls, .calls, .checkpoint, .quarantine, .calls]
                for wave in waves where self.violations.isEmpty { try self.play(wave) }
            } catch {
                self.violations.append("the harness itself failed: \(error)")
            }
            guard self.violations.isEmpty else { return }
            for directory in [self.directory, self.logs] { Directory.remove(directory) }
        }

        private mutating func play(_ wave: Wave) throws {
            var garbage: [UInt8]?
            switch wave {
            case .quarantine: garbage = try self.garble()
            case .creation, .migration, .calls, .checkpoint: break
            }
            let (kills, calls) = (self.counts["kills", default: 0], self.ledger.calls.count)
            self.waiting = wave.plans(using: &self.random)
            try self.playAll()
            // Whoever comes next opens what the dead have left.
            if self.counts["kills", default: 0] > kills { self.counts["recoveries", default: 0] += 1 }
            self.counts["commits", default: 0] += self.ledger.calls[calls...].count { $0.isCommit }
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
            let (pid, pipe) = try Killer.fork { _, _ in StoreFile.makeOld(path) ? 0 : 1 }
            close(pipe)
            guard Killer.wait(for: pid) == 0 else { throw SystemError("make an old file", code: EIO) }
        }

        /// In a process of its own, which may open the database.
        private mutating func look() throws {
            let (path, ledger) = (self.path, self.ledger)
            let (pid, pipe) = try Killer.fork { pipe, _ in
                for violation in KillLoop.violations(of: path, ledger).prefix(20) { KillLoop.say(violation, to: pipe) }
                return 0
            }
            let plan = Plan(.witness, calls: 0, using: &self.random)
            self.hands = [Hand(pid: pid, pipe: pipe, process: -1, plan: plan, [])]
            self.waiting = []
            try self.playAll()
        }

        // MARK: - Workers

        private mutating func playAll() throws {
            while !self.waiting.isEmpty || !self.hands.isEmpty {
                while !self.waiting.isEmpty, self.hands.count < Self.crowd { try self.startNext() }
                var events = self.hands.map { pollfd(fd: $0.pipe, events: Int16(POLLIN), revents: 0) }
                // What a process notes wakes nobody: the killer looks at it again and again.
                let isWatching = self.hands.contains { $0.isWatched }
                _ = unsafe poll(&events, nfds_t(events.count), isWatching ? 0 : 20)
                for index in self.hands.indices.reversed() {
                    if events[index].revents != 0 { self.hear(index) }
                }
                for index in self.hands.indices { self.hands[index].watch() }
                for hand in self.hands where hand.isDue { kill(hand.pid, SIGKILL) }
                for hand in self.hands where hand.isLost && !self.lost.contains(hand.pid) {
                    self.lost.insert(hand.pid)
                    self.violations.append("process \(hand.process) hangs")
                    kill(hand.pid, SIGKILL)
                }
                if isWatching { usleep(100) }
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
            let (process, path, directory) = (self.processes, self.path, self.logs)
            let logs = try (0..<max(1, plan.callers)).map { try KillLoop.log(in: directory, of: process, $0) }
            let library = self.libraries.randomElement(using: &self.random)
            let (pid, pipe) = try Killer.fork { pipe, parent in
                let worker = Worker(process: process, plan: plan, path: path, logs: directory, pipe: pipe)
                guard let library else { return worker.run(childOf: parent) }
                return Recruit(worker, parent).start(library)
            }
            self.hands.append(Hand(pid: pid, pipe: pipe, process: process, plan: plan, logs))
        }

        private mutating func hear(_ index: Int) {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe read(self.hands[index].pipe, &bytes, bytes.count)
            guard count > 0 else { return self.bury(index) }
            self.violations += self.hands[index].hear(bytes[..<count])
        }

        private mutating func bury(_ index: Int) {
            let hand = self.hands.remove(at: index)
            close(hand.pipe)
            let code = Killer.wait(for: hand.pid)
            let calls = hand.calls()
            self.ledger.calls += calls
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
            self.counts["calls", default: 0] += calls.count
            let version = hand.version
            if version > 0 {
                self.counts[
                    "opened with SQLite \(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)",
                    default: 0] += 1
            }
        }
    }
}
