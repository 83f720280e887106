import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Opens what a cut has left, as a program does that starts after the host is up again.
struct PowerJudge {
    private struct Boom: Error {}

    private let directory: String
    private let files: [String: [UInt8]]
    private var path: String { self.directory + "/a.db" }

    /// Puts the files into a directory that is empty.
    init(_ files: [String: [UInt8]], in directory: String) throws {
        self.directory = directory
        self.files = files
        try Self.put(files, in: directory)
    }

    /// Takes the files that are in a directory already.
    init(_ files: [String: [UInt8]], areIn directory: String) {
        self.directory = directory
        self.files = files
    }

    /// Makes these the files of a directory.
    static func put(_ files: [String: [UInt8]], in directory: String) throws {
        Directory.remove(directory)
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
        for (name, bytes) in files { try FileBytes.write(bytes, to: "\(directory)/\(name)") }
    }

    /// What must not be.
    ///
    /// - Parameters:
    ///   - look: what SQLite finds in the same files.
    ///   - mayMove: whether the file is one that had to be set aside before the power went.
    func faults(_ look: PowerLook, mayMove: Bool) -> [String] {
        var faults: [String] = []
        do throws(BreakerStoreError) {
            faults += try self.use(look)
        } catch {
            faults.append("it can't be used: \(error)")
        }
        let names = Directory.names(in: self.directory)
        let moved = names.filter {
            !self.files.keys.contains($0) && ($0.contains(".corrupt-") || $0.contains(".stray-"))
        }
        let kept = self.files["a.db"] ?? []
        if mayMove, moved.contains(where: { FileBytes.areEqual(FileBytes.read("\(self.directory)/\($0)"), kept) }) {
            return faults
        }
        if !moved.isEmpty, !self.isLeftAlone(moved) { faults.append("\(moved) was set aside without need") }
        let after = PowerLook(self.path)
        faults += after.problems.prefix(3).map { "afterwards SQLite says: \($0)" }
        faults += StoreJudge(StoreFile(self.path, isChecked: false), eventsKept: 1_000_000).violations.prefix(3)
        let lost = Set(look.events).subtracting(after.events)
        if !mayMove, !lost.isEmpty { faults.append("the library has lost \(lost.count) events: \(lost.first ?? "")") }
        return faults
    }

    /// Whether it is a log or an index without its database.
    private func isLeftAlone(_ moved: [String]) -> Bool {
        (self.files["a.db"] ?? []).isEmpty && moved.allSatisfy { $0.contains(".stray-") }
    }

    private func use(_ look: PowerLook) throws(BreakerStoreError) -> [String] {
        var faults: [String] = []
        let clock = ManualHostClock()
        clock.reboot(downFor: .seconds(60))
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.eventsKept = 1_000_000
        configuration.busyTimeout = .seconds(20)
        let store = try CircuitStore(path: self.path, configuration: configuration)
        defer { store.close() }
        for circuit in try store.circuits() {
            guard circuit.state == .halfOpen else { continue }
            guard let config = PowerWorker.configs.first(where: { $0.name == circuit.name }) else { continue }
            let breaker = try store.breaker(config)
            var permits: [CallPermit] = []
            for _ in 0..<config.probes.limit {
                if let permit = try? breaker.admit() { permits.append(permit) }
            }
            // What succeeded before may have left fewer to be done.
            if permits.isEmpty { faults.append("a slot of '\(circuit.name)' is held by the dead") }
        }
        let breaker = try store.breaker(.init(name: "after", trip: .failures(2, within: .seconds(60))))
        for _ in 0..<2 { breaker.recordFailure(Boom()) }
        if breaker.isCallPermitted { faults.append("two failures did not trip a circuit") }
        if case .degraded(since: _, let error) = store.health { faults.append("the store is degraded: \(error)") }
        return faults
    }
}
