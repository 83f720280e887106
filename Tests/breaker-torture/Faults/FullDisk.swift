import BreakerStore
import BreakerTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Fills a small file system to its last byte: calls run, are counted in memory, and come back to the file once there
/// is room again.
///
/// It is mounted in a namespace of a process of its own, and goes with that.
struct FullDisk {
    private struct Boom: Error {}

    private static let rounds = 100

    private let report: Report
    private let disk: SmallDisk

    static func run(_ stage: Stage) async throws {
        #if os(Linux)
        guard geteuid() == 0 else {
            Report.say("disk: only root may mount a file system")
            return
        }
        var arguments = [
            "role", Role.disk.rawValue, "--part", Part.disk.rawValue, "--seed", "\(stage.options.seed)",
        ]
        if stage.options.isShort { arguments.append("--short") }
        if let duration = stage.options.duration { arguments += ["--duration", "\(duration.components.seconds)"] }
        let process = try WorkerProcess(
            program: "breaker-torture",
            arguments: arguments,
            through: ["unshare", "--mount"]
        )
        defer { process.clear() }
        let code = await process.end()
        if code != 0 { stage.report.violated("the process with the full disk ended with \(code)") }
        #else
        Report.say("disk: there are no mount namespaces here")
        #endif
    }

    /// In the namespace.
    static func main(_ arguments: [String]) async -> Int32 {
        do {
            let options = try Options(arguments)
            let report = Report(.disk, options)
            let stage = try Stage(options, report)
            defer { stage.clear() }
            #if os(Linux)
            let small = try SmallDisk(at: stage.directory, megabytes: 8)
            defer { small.clear() }
            let disk = FullDisk(report: report, disk: small)
            while report.goesOn, report.count(of: "rounds") < (options.isShort ? 1 : Self.rounds) {
                try await disk.runWithoutReserve()
                try await disk.runUntilReserveIsUsedUp()
                try await disk.openOnFullDisk()
                report.add(1, "rounds")
            }
            #endif
            return report.close() ? 0 : 1
        } catch {
            Report.say("disk: \(error)")
            return 1
        }
    }

    private func isDegraded(_ store: CircuitStore) -> Bool {
        if case .degraded = store.health { true } else { false }
    }

    /// A failing call, and the time that it takes.
    private func fail(_ scene: Scene) async {
        let start = ContinuousClock.now
        await scene.fail(scene.counting)
        let time = ContinuousClock.now - start
        self.report.add(1, "calls")
        self.report.raise(Int(time / .milliseconds(1)), "ms in the slowest call")
        if time > .hangLimit { self.report.violated("a call took \(time)") }
    }

    /// There was too little room for the reserve when the store was created.
    private func runWithoutReserve() async throws {
        defer { self.disk.free() }
        let what = "without a reserve"
        let scene = try self.createWithLittleRoom(what)
        defer { scene.clear() }
        try self.disk.fill()
        try await self.exhaust(scene, what)
        try await self.comeBack(scene, what)
    }

    /// btrfs, which needs new room for all that it writes, needs more than others until a store is complete.
    private func createWithLittleRoom(_ what: String) throws -> Scene {
        var room = 500_000
        while true {
            try self.disk.fill(leaving: room)
            let directory = "\(self.disk.directory)/scene"
            do {
                return try Scene(directory, what, self.report)
            } catch let error as BreakerStoreError where error.code == .full && room < 16_000_000 {
                Directory.remove(directory)
                self.disk.free()
                room *= 2
            }
        }
    }

    /// Names of circuits take all the room that was kept.
    private func runUntilReserveIsUsedUp() async throws {
        defer { self.disk.free() }
        let what = "with the reserve used up"
        let scene = try Scene("\(self.disk.directory)/scene", what, self.report)
        defer { scene.clear() }
        try self.disk.fill()
        try await self.exhaust(scene, what)
        try await self.comeBack(scene, what)
    }

    /// Takes what room there is in the files themselves, and reports failures when there is none.
    ///
    /// A full log is copied into the database and begun anew, in the blocks that it has: so a store that writes the
    /// same pages again and again goes on for ever. Each name takes new ones, until the database has no room for what
    /// the log holds; from then on nothing can be written, not even a byte.
    private func exhaust(_ scene: Scene, _ what: String) async throws {
        for number in 1...20_000 {
            let name = "\(number)-" + String(repeating: "n", count: 190)
            _ = try scene.store.breaker(.init(name: name, group: name))
            guard try await self.staysDegraded(scene.store) else { continue }
            self.report.raise(number, "circuits \(what)")
            for _ in 0..<500 { await self.fail(scene) }
            return
        }
        self.report.violated("\(what): the disk was never full")
    }

    /// Whether the store, if it is degraded, tries in vain to come back.
    ///
    /// A machine that is too busy for a try is no harm: what comes later does not rely on it.
    private func staysDegraded(_ store: CircuitStore) async throws -> Bool {
        let end = ContinuousClock.now + .milliseconds(100)
        while self.isDegraded(store) {
            if ContinuousClock.now > end { return true }
            try await Task.sleep(for: .milliseconds(1))
        }
        return false
    }

    private func comeBack(_ scene: Scene, _ what: String) async throws {
        if try await scene.protectInMemory() { self.report.add(1, "circuits tripped in memory") }
        self.disk.free()
        let start = ContinuousClock.now
        try await scene.comeBack()
        self.report.raise(Int((ContinuousClock.now - start) / .milliseconds(1)), "ms until it was back at most")
        // Small changes may find room where larger ones don't, so that the store comes back for a moment.
        let kinds = try await scene.store.history(limit: 10_000).map(\.kind).filter {
            $0 == .degraded || $0 == .restored
        }
        let pairs = kinds.count { $0 == .degraded }
        if pairs == 0 || kinds.reversed() != (0..<pairs).flatMap({ _ in [CircuitEvent.Kind.degraded, .restored] }) {
            self.report.violated("\(what): the history tells \(kinds)")
        }
        self.report.raise(pairs, "times degraded at most")
    }

    /// A removed file keeps its room as long as it is open, and a thread of a closed store may end a little later.
    private func waitForRemovedFiles() async throws {
        let deadline = ContinuousClock.now + .hangLimit
        func isOpen() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains { name in
                let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return file.map { $0.hasPrefix(self.disk.directory) && $0.hasSuffix(" (deleted)") } ?? false
            }
        }
        while try isOpen(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// A store that may degrade opens, guards in memory, and comes to the file later.
    private func openOnFullDisk() async throws {
        let path = "\(self.disk.directory)/new.db"
        defer { self.disk.free() }
        defer { for outcome in ["", "-wal", "-shm", "-lock", "-board"] { unsafe unlink(path + outcome) } }
        try await self.waitForRemovedFiles()
        try self.disk.fill()
        var configuration = CircuitStore.Configuration()
        configuration.clock = ManualHostClock()
        do {
            _ = try CircuitStore(path: path, configuration: configuration)
            self.report.violated("a store was created on a full disk")
        } catch {
            if error.code != .full { self.report.violated("creation on a full disk: \(error)") }
        }
        configuration.whenUnavailable = .degrade
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a", trip: .failures(3, within: .seconds(60))))
        // There is no room for a board, either: this process decides by what it has counted itself.
        let shares = try store.breaker(.init(name: "b", trip: .failureRate(0.5, minimumCalls: 3, within: .seconds(60))))
        for _ in 0..<3 {
            await breaker.recordFailure()
            let _: Void? = try? await shares.run { () async throws in throw Boom() }
        }
        for breaker in [breaker, shares] where breaker.isCallPermitted {
            self.report.violated("memory lets a call through '\(breaker.name)' on a full disk")
        }
        self.disk.free()
        let deadline = ContinuousClock.now + .hangLimit
        func isBack() -> Bool { !self.isDegraded(store) && (try? store.circuit(named: "a")) != nil }
        while !isBack() {
            guard ContinuousClock.now < deadline else {
                return self.report.violated("a store opened on a full disk never came to its file: \(store.health)")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        for problem in SQLiteFile.problems(of: path) { self.report.violated("opened on a full disk: \(problem)") }
    }
}
