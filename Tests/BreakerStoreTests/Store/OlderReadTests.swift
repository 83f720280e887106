import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a read that began earlier knows of the clock.
@Suite(.timeLimit(.minutes(10))) struct OlderReadTests {
    @Test func anOlderSnapshotDoesNotSetTheClockBack() throws {
        let fixture = try StoreFixture()
        let core = try #require(fixture.core)
        _ = try fixture.breaker()
        let before = core.clock.now
        try core.view { (database) throws(BreakerStoreError) in
            try database.snapshot { () throws(BreakerStoreError) in
                _ = try database.first("SELECT offset FROM clock") { $0.integer(0) }
                // Meanwhile another program's stamp moves the store's time on by an hour.
                Foreign.run(
                    fixture.store.backend.file.path, "UPDATE clock SET reserved = reserved + 3600000000",
                    keepsLog: true)
                try core.commit(until: Deadline(after: .hangLimit)) { _ in }
                #expect(core.clock.now >= before.adding(3_600_000_000))
                try core.clock.follow(database)
            }
        }
        #expect(core.clock.now >= before.adding(3_600_000_000))
    }

    /// Who has not read anything yet takes what it finds, be it below zero.
    @Test(arguments: [-1_000_000, 0, 5]) func theFirstReadIsTakenAsItIs(_ offset: Int64) {
        let host = ManualHostClock()
        let clock = StoreClock(host)
        clock.follow(
            ClockRow(
                boot: host.bootID, offset: offset, reserved: 0, epochFloor: 0, incarnation: 1,
                wall: .init(time: 0, at: 0)))
        #expect(clock.offset == offset)
    }
}
