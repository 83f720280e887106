import BreakerTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What one kernel is, and what is another one.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OtherKernelTests {
    #if os(Linux)
    /// As in two containers with one volume, mounted in different places.
    @Test(.enabled(if: geteuid() == 0, "only root may make namespaces"))
    func containersShareACircuitAndSeeEachOtherDie() async throws {
        let place = try Workplace.here
        let unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]
        let elsewhere = place.directory + "/elsewhere"
        unsafe mkdir(elsewhere, 0o700)
        let mounting = ["sh", "-c", #"mount --bind "$0" "$1" && shift && exec "$@""#, place.directory, elsewhere]
        let first = try place.worker(through: unshare)
        let second = try place.worker(through: unshare + mounting)
        try await first.ask("open \(place.store)")
        try await second.ask("open \(elsewhere)/circuits.db")
        let both = [first, second]
        try await both.ask("breaker users failures=2")
        // Each is number 1 where it lives: no number of a process tells them apart.
        for workers in try await both.ask("workers") { #expect(workers.description == "count=2 pids=1,1") }

        try await both.ask("fail users")
        for reply in try await both.ask("call users") { #expect(reply["cause"] == "open") }
        #expect(try await second.ask("history users tripped").number("count") == 1)
        place.clock.advance(by: .seconds(30))
        #expect(try await first.ask("admit users").number("ran") == 1)
        #expect(try await second.ask("admit users")["cause"] == "probing")
        await first.die()
        #expect(try await second.ask("workers").description == "count=1 pids=1")
        #expect(try await second.ask("admit users").number("ran") == 1)

        let third = try place.worker(through: unshare)
        try await third.ask("open \(place.store)")
        try await third.ask("breaker users failures=2")
        #expect(try await third.ask("workers").number("count") == 2)
        #expect(try await third.ask("admit users")["cause"] == "probing")
        await second.die()
        #expect(try await third.ask("workers").number("count") == 1)
        #expect(try await third.ask("call users").number("ran") == 1)
        #expect(try await third.ask("look users")["state"] == "closed")
    }
    #endif

    /// Two virtual machines with one disk have two boots; one host after a boot has no worker of the last one.
    @Test func anotherBootMustWaitForTheLastWorker() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users failures=3")
        try await workers[0].ask("fail users 2")
        place.clock.reboot(downFor: .seconds(1))
        let witness = try place.worker()
        for worker in workers {
            await #expect {
                try await place.worker().ask("open \(place.store)")
            } throws: {
                "\($0)".contains("another host or virtual machine")
            }
            // It has neither written itself down nor taken anybody's row away.
            let row = "SELECT boot, (SELECT count(*) FROM worker) FROM clock"
            #expect(try await witness.ask("query \(place.store) \(row)")["row"] == "shared-boot-1,2")
            await worker.die()
        }
        let next = try await place.openWorker()
        try await next.ask("breaker users failures=3")
        #expect(try await witness.ask("query \(place.store) SELECT boot FROM clock")["row"] == "shared-boot-2")
        #expect(try await next.ask("workers").description == "count=1 pids=\(next.pid)")
        #expect(try await next.ask("look users").number("counted") == 2)
        try await next.ask("fail users")
        #expect(try await next.ask("call users")["cause"] == "open")
    }
}
