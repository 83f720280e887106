import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A worker process: calls the service through its breaker, again and again, and says in a line how it went.
///
/// It closes its store and ends when its input ends: nothing of the demo outlives the demo.
struct WorkerMode {
    /// The first argument of a worker.
    static let word = "worker"

    private let client: ServiceClient
    private let guarded: (() throws -> Void) throws -> Void
    /// How long it rests before its next call.
    private let pause: () -> Duration
    /// What it does before it exits.
    private let close: () -> Void

    /// - Parameters:
    ///   - name: the worker's name.
    ///   - port: where the service is.
    ///   - path: the store's file; nil for a breaker in memory.
    static func arguments(name: String, port: UInt16, path: String?) -> [String] {
        [Self.word, name, String(port)] + (path.map { [$0] } ?? [])
    }

    /// The arguments of a worker on one of several hosts.
    static func arguments(name: String, port: UInt16, path: String, clock: ClockOfAHost) -> [String] {
        Self.arguments(name: name, port: port, path: path) + [String(clock.number)]
    }

    init(arguments: [String]) throws {
        guard (3...5).contains(arguments.count), let port = UInt16(arguments[2]) else { throw DemoError.usage }
        self.client = ServiceClient(port: port, worker: arguments[1])
        guard arguments.count > 3 else {
            var users = MemoryBreaker()
            self.guarded = { try users.run($0) }
            self.pause = { Rules.pause }
            self.close = {}
            return
        }
        // This is all that a worker needs to share its circuit.
        var configuration = CircuitStore.Configuration()
        configuration.workerName = arguments[1]
        // The demo counts each call, and may run where the disk is slow.
        configuration.busyTimeout = .seconds(10)
        let isOfAFleet = arguments.count == 5
        if isOfAFleet { configuration.clock = try ClockOfAHost(argument: arguments[4]) }
        let store = try CircuitStore(path: arguments[3], configuration: configuration)
        let users = try store.breaker(isOfAFleet ? FleetRules.config : Rules.config)
        self.guarded = { try users.run($0) }
        self.close = { store.close() }
        self.pause = { isOfAFleet ? FleetRules.pause * Double.random(in: 0.5...1.5) : Rules.pause }
    }

    func run() {
        let input = Descriptor(STDIN_FILENO)
        let output = Descriptor(STDOUT_FILENO)
        while output.send(self.call().line), Descriptor.ready(of: [input], within: self.pause()).isEmpty {}
        self.close()
    }

    private func call() -> Call {
        var call = Call(started: Moment.now, result: .answered)
        do {
            try self.guarded { try self.client.get("/users/7") }
        } catch let refusal as CircuitOpenError {
            call.result = refusal.cause == .probing ? .refusedForAProbe : .refused
        } catch is MemoryBreaker.Refusal {
            call.result = .refused
        } catch {
            call.result = .failed
        }
        return call
    }
}
