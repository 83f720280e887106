import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Victim {
    /// Waits until the file is back.
    func waitForFile() async {
        guard let store else { return }
        let deadline = ContinuousClock.now + .seconds(4)
        while ContinuousClock.now < deadline {
            if case .healthy = store.health { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
        self.violations.append("the store does not come back, it is \(Self.word(store.health))")
    }

    /// Waits until the file is back, and holds what it says against the failures that were seen.
    func waitForTrip() async {
        guard let store, let breaker = self.breaker("closed", in: store) else { return }
        await self.waitForFile()
        // The store says that it is healthy, and then tells the file at once what was kept.
        let deadline = ContinuousClock.now + .seconds(1)
        while case .closed = breaker.state, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        if case .healthy = store.health, case .closed = breaker.state {
            self.violations.append("failures were lost: closed with \(breaker.failureCount) when the file came back")
        }
    }

    /// Names that are forgotten leave nothing behind.
    func forgetNames() {
        guard let store else { return }
        let (count, most) = (3_000, 400)
        for place in 0..<2 * count {
            // The first half is for what is allocated once.
            if place == count { self.idle = Memory.now }
            let name = "name\(place)"
            guard self.breaker(name, in: store) != nil else { return }
            try? store.forget(name)
        }
        let left = (Memory.now - self.idle) / count
        if left > most { self.violations.append("a forgotten name leaves \(left) bytes") }
    }

    /// Calls for a while: whatever others clean up, this one is not in their way.
    func watch() {
        guard let store, let breaker = self.breaker("watched", in: store) else { return }
        let deadline = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < deadline {
            breaker.recordFailure()
            try? store.reset("watched")
            guard case .degraded(since: _, let error) = store.health else { continue }
            return self.violations.append("degraded: \(error)")
        }
    }

    /// No file may grow, as on a full disk; or each may again.
    static func limitFiles(_ word: String) {
        var limit = rlimit()
        #if canImport(Darwin)
        let kind = RLIMIT_FSIZE
        #else
        let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #endif
        unsafe getrlimit(kind, &limit)
        limit.rlim_cur = word == "none" ? limit.rlim_max : 0
        unsafe setrlimit(kind, &limit)
    }
}
