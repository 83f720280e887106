import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

#if os(Linux)
/// What somebody sees of the doctor's findings on a terminal of the usual size.
@Suite(.timeLimit(.minutes(10)), .ownDirectory) struct DoctorScreenTests {
    /// A half-done upgrade of a store whose file was damaged a moment ago.
    @Test func twoFindingsFitATerminal() async throws {
        let here = try Workplace.here
        let worker = try await here.openWorkers(1, "system-clock")[0]
        try await worker.ask("breaker payments failures=100")
        try await worker.ask("hold payments open")
        for ending in ["", "-wal"] {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: here.store + ending))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 20_000))
            try file.close()
        }
        func doctor() throws -> String {
            try Child.terminal("\"$0\" doctor --color never", store: here.store, columns: 80).output
        }
        let end = ContinuousClock.now + .hangLimit
        while try !doctor().contains("circuits.db.corrupt-"), ContinuousClock.now < end {
            _ = try? await worker.ask("call payments 1")
        }
        var old: [WorkerProcess] = []
        for _ in 0..<6 {
            let program = ["-c", OutsideWorkersTests.oldWorker, here.store, "0.4.3"]
            let process = try here.start("/usr/bin/python3", program)
            try await process.ask("are you there?")
            old.append(process)
        }
        let shown = try doctor()
        let lines = shown.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { String($0).displayWidth <= 80 }, "\(shown)")
        // The last line is the shell's.
        #expect(lines.count <= 24, "\(shown)")
        #expect(shown.contains("\n\n2 problems\n"), "\(shown)")
        // Each worker is named, in one finding.
        let text = shown.split(separator: /\s+/).joined(separator: " ")
        let pids = old.map(\.pid).sorted().map(String.init).joined(separator: " ")
        let names = "shop-worker[\(pids)];"
        #expect(text.contains("6 of 7 workers run a release that cannot use this file (0.4.3): \(names)"), "\(shown)")
        #expect(text.contains("the old file is kept as "), "\(shown)")
    }
}
#endif
