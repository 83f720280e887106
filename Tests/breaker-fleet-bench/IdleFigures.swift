#if PostgreSQL
import BreakerStore

/// What links cost while their circuits are well.
struct IdleFigures {
    let hosts: [BenchHost]

    func tell(for seconds: Int) async throws {
        try await self.hosts.waitUntilJoined()
        // What a link does once, after it has joined.
        try await Task.sleep(for: .seconds(5))
        let (statements, computed, start) = (self.hosts.statements, OwnProcess.computed, ContinuousClock.now)
        self.countInMemory(at: 0)
        let step = max(1, seconds / 6)
        for second in stride(from: step, through: seconds, by: step) {
            try await Task.sleep(until: start + .seconds(second))
            self.countInMemory(at: second)
        }
        let passed = (ContinuousClock.now - start) / .seconds(1)
        let each = passed * Double(self.hosts.count)
        let sent = Double(self.hosts.statements - statements) / each
        let share = 100 * ((OwnProcess.computed - computed) / .seconds(1)) / each
        print("  \(self.hosts.count) idle links for \(Int(passed)) s, each:")
        print("    \(Self.rounded(sent)) statements a second, \(Self.rounded(share)) % of a core")
        if sent > 1.05 { throw BenchError.broken("one statement a second a link") }
    }

    private func countInMemory(at second: Int) {
        let memory = OwnProcess.memory
        let kinds = ["VmRSS", "RssAnon", "RssFile", "RssShmem"].map { "\($0) \(memory[$0] ?? 0) KiB" }
        print("  \(self.hosts.count) links, \(second) s: " + kinds.joined(separator: ", "))
    }

    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
#endif
