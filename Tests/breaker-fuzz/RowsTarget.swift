@testable import BreakerStore

/// A whole store, as all that only reads it sees it.
struct RowsTarget: Target {
    private let scratch: Scratch
    private let sample: SampleStore

    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        self.sample = try SampleStore(in: scratch)
    }

    func feed(_ bytes: [UInt8]) throws {
        let files = ["": bytes, "-lock": LockFile.magic]
        try self.scratch.place(files)
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        configuration.clock = ManualHostClock()
        if let store = try? CircuitStore(path: self.scratch.store, configuration: configuration) {
            for circuit in (try? store.circuits()) ?? [] { _ = try? store.circuit(named: circuit.name) }
            _ = try? store.history()
            _ = try? store.workers()
            store.close()
        }
        for verb in ["list", "doctor", "history", "workers", "check"] {
            try ToolRun([verb, "--json"], on: self.scratch.store).check()
        }
        for arguments in [["list"], ["show", "users"], ["history"]] {
            try ToolRun(arguments, on: self.scratch.store).check()
        }
        try self.scratch.requireUntouched(files)
    }

    var seeds: [[UInt8]] { [self.sample.database] }
}
