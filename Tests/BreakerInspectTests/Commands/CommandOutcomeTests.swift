import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct CommandOutcomeTests {
    @Test(arguments: [
        (CommandStatus.exited(0), Verdict.success, Int32(0)), (.exited(1), .failure, 1), (.exited(255), .failure, 255),
        (.exited(7), .ignored, 7), (.exited(64), .ignored, 64), (.exited(78), .ignored, 78),
        (.exited(79), .failure, 79),
        (.exited(126), .ignored, 126), (.exited(127), .ignored, 127), (.exited(130), .ignored, 130),
        (.exited(75), .ignored, 75), (.killed(signal: 9), .failure, 137), (.killed(signal: 15), .failure, 143),
        (.killed(signal: 2), .ignored, 130), (.notExecuted(.noSuchCommand), .ignored, 127),
        (.notExecuted(.notExecutable), .ignored, 126), (.notExecuted(.noProcess), .ignored, 126),
    ])
    func isDecidedByTheStatus(status: CommandStatus, verdict: Verdict, code: Int32) throws {
        let ignored = try ExitCodeSet("7,64-78", of: RunVerb.ignore)
        let outcome = CommandOutcome(status, ignoring: ignored)
        #expect(outcome.verdict == verdict)
        #expect(outcome.code.rawValue == code)
    }

    /// However the command then ended: it was asked to.
    @Test(arguments: [CommandStatus.exited(0), .exited(7), .exited(130), .killed(signal: 15), .killed(signal: 9)])
    func timeoutIsAFailure(status: CommandStatus) throws {
        let ignored = try ExitCodeSet("7", of: RunVerb.ignore)
        let outcome = CommandOutcome(status, timedOutAfter: .seconds(3), ignoring: ignored)
        #expect(outcome.verdict == .failure)
        #expect(outcome.code == .timedOut)
        #expect(outcome.error == "took longer than 3 s")
    }

    @Test(arguments: [
        "", ",", "1,", "0", "256", "-1", "1-", "3-2", "a", "1 2", "1--2", "99999999999999999999", "1-2-3", "\u{661}",
    ])
    func refusesOtherCodes(text: String) {
        #expect(throws: Failure.self) { try ExitCodeSet(text, of: RunVerb.ignore) }
    }
}
