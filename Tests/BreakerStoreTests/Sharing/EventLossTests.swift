import BreakerStore
import BreakerTestSupport
import Testing

/// A process that can't keep up with the history is told how much of it has gone.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct EventLossTests {
    @Test func whatWasPrunedIsReportedAsMissed() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2, "listening=1 kept=10")
        try await workers.ask("breakers c 2")
        try await workers[0].ask("steps ann reset:c0")
        let first = try #require(try await workers[0].history().last)
        _ = try await workers[1].heard("stream", upTo: first.id)
        _ = try await workers[1].heard("handler", upTo: first.id)

        workers[1].stop()
        try await workers[0].ask("operate c0 ann 50")
        let history = try await workers[0].history()
        let newest = try #require(history.last)
        #expect(history.count == 10)
        workers[1].goOn()
        for ear in ["stream", "handler"] {
            let heard = try await workers[1].heard(ear, upTo: newest.id)
            #expect(heard.map(\.kind).prefix(3) == [.reset, .missed, .held])
            #expect(heard.dropFirst().first?.reason == "40_events_were_deleted_before_they_were_read")
            #expect(heard.dropFirst(2).map(\.ofAll) == history.map(\.ofAll))
            #expect(heard.map(\.id) == heard.map(\.id).sorted())
            #expect(!heard.contains { $0.isOwn })
        }
        // Another circuit's events have a place of their own.
        try await workers[0].ask("steps ann reset:c1")
        let last = try await workers[1].heard("stream", upTo: newest.id + 1).last
        #expect(last?.circuit == "c1")
    }
}
