#if os(Linux)
import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A process that can't read the boot id opens no store, and writes no other id into the file.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct BootIDTests {
    /// Descriptors are freed one by one, so that each step of the opening once finds none.
    @Test func aBootIDThatCouldNotBeReadIsNotKept() async throws {
        let place = try Workplace.here
        let first = try place.worker()
        try await first.ask("open \(place.store) system-clock")
        #expect(await first.quit() == 0)
        await #expect(processExitsWith: .success) { [path = place.store as String] in
            var limit = rlimit(rlim_cur: 96, rlim_max: 96)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var held: [Int32] = []
            while case let descriptor = unsafe open("/dev/null", O_RDONLY), descriptor >= 0 { held.append(descriptor) }
            var store: CircuitStore?
            var failures = 0
            while store == nil {
                do throws(BreakerStoreError) {
                    store = try CircuitStore(path: path)
                } catch {
                    failures += 1
                    guard let last = held.popLast() else { throw error }
                    close(last)
                }
            }
            for descriptor in held { close(descriptor) }
            #expect(failures > 0)
            let kernel = try #require(SmallFile.text("/proc/sys/kernel/random/boot_id")).filter { !$0.isWhitespace }
            #expect(SystemHostClock().bootID == kernel)
            store?.close()
            let file = try Connection(path: path, access: .readWrite)
            #expect(try file.text("SELECT boot FROM clock") == kernel)
        }
        let next = try place.worker()
        try await next.ask("open \(place.store) system-clock")
    }

    /// As a unit of systemd with `ProcSubset=pid` sees `/proc`.
    @Test(.enabled(if: geteuid() == 0, "only root may make namespaces"))
    func aProcessThatCannotSeeTheBootIDLearnsWhatToSet() async throws {
        let place = try Workplace.here
        let subset = #"mount -t proc -o subset=pid proc /proc && exec "$0" "$@""#
        let hidden = try place.worker(through: ["unshare", "--mount", "sh", "-c", subset])
        await #expect {
            try await hidden.ask("open \(place.store) system-clock")
        } throws: {
            let text = "\($0)"
            return text.contains("unavailable") && text.contains("'/proc/sys/kernel/random/boot_id'")
                && text.contains("ProcSubset=all")
        }
        #expect(StoreFile.size(place.store) == nil)
        // Memory guards such a process that does not want to fail, and the others are not disturbed.
        try await hidden.ask("open \(place.store) system-clock degrade")
        try await hidden.ask("breaker users failures=1")
        let other = try place.worker()
        try await other.ask("open \(place.store) system-clock")
        try await other.ask("breaker users failures=1")
        try await hidden.ask("fail users")
        #expect(try await hidden.ask("call users")["cause"] == "open")
        #expect(try await other.ask("call users").number("ran") == 1)
        #expect(try await other.ask("workers").number("count") == 1)
    }
}
#endif
