import BreakerTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChildEnvironmentTests {
    @Test func processesOfTestsLeaveNoProfileThatAKillWouldTear() async throws {
        let script = #"read line; echo "profile=$LLVM_PROFILE_FILE path=$PATH""#
        let shell = try WorkerProcess(program: "/bin/sh", arguments: ["-c", script])
        let reply = try await shell.ask("tell")
        #expect(reply["profile"] == "/dev/null")
        #expect(reply["path"]?.isEmpty == false)
        await shell.quit()
    }
}
