#if PostgreSQL
import Testing

@testable import BreakerFleet

/// No server, and nobody between, keeps a link longer than its deadline, fills its memory or ends it.
@Suite(.timeLimit(.minutes(10)), .serialized) struct HostileServerTests {
    @Test(arguments: HostileServer.Manner.allCases) func endsInAnError(_ manner: HostileServer.Manner) async throws {
        let server = try await HostileServer(manner)
        let started = ContinuousClock.now
        var connection: ServerConnection?
        let error = #expect(throws: FleetError.self) {
            let opened = try ServerConnection(
                server.settings, manner: .init(timeout: .milliseconds(700), hasOwnSession: false))
            connection = opened
            try opened.run("SELECT 1")
        }
        // Without the deadline, the manners that say nothing would never end.
        print("\(manner): ended after \(ContinuousClock.now - started)")
        #expect((connection != nil) == manner.letsIn)
        // Where libpq has found the end of the answer, the connection is fit to be used on.
        let hasEnd = [.errorWithoutFields, .rowsOfNothing, .wrongColumns].contains(manner)
        #expect((connection?.isOpen == true) == hasEnd)
        let code = try #require(error?.code)
        #expect([.timedOut, .unreachable, .unavailable].contains(code))
        if [.silent, .silentAtStatement, .drips].contains(manner) { #expect(code == .timedOut) }
        #expect(try #require(error).message.utf8.count < 8_000)
        #expect((connection?.notifications.count ?? 0) <= 1_001)
    }

    @Test func textsOfAServerAreCutAndOnOneLine() {
        #expect(ServerText.shown("a\nb\u{1B}[31m") == "a\\u{A}b\\u{1B}[31m")
        #expect(ServerText.shown(String(repeating: "é\u{301}", count: 9_000)).unicodeScalars.count == 1_000)
    }
}
#endif
