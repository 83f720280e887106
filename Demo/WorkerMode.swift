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
/// It ends when its input does: nothing of the demo outlives the demo.
struct WorkerMode {
    /// The first argument of a worker.
    static let word = "worker"

    private let client: ServiceClient
    private let guarded: (() throws -> Void) throws -> Void

    /// - Parameters:
    ///   - name: the worker's name.
    ///   - port: where the service is.
    ///   - path: the store's file; nil for a breaker in memory.
    static func arguments(name: String, port: UInt16, path: String?) -> [String] {
        [Self.word, name, String(port)] + (path.map { [$0] } ?? [])
    }

    init(arguments: [String]) throws {
        guard (3...4).contains(arguments.count), let port = UInt16(arguments[2]) else { throw DemoError.usage }
        self.client = ServiceClient(port: port, worker: arguments[1])
        if arguments.count == 4 {
            // This is all that a worker needs to share its circuit.
            var configuration = CircuitStore.Configuration()
            configuration.workerName = arguments[1]
            // The demo counts each call, and may run where the disk is slow.
            configuration.busyTimeout = .seconds(10)
            let store = try CircuitStore(path: arguments[3], configuration: configuration)
            let users = try store.breaker(Rules.config)
            self.guarded = { try users.run($0) }
        } else {
            var users = MemoryBreaker()
            self.guarded = { try users.run($0) }
        }
    }

    func run() {
        let input = Descriptor(STDIN_FILENO)
        let output = Descriptor(STDOUT_FILENO)
        while output.send(self.call().line), Descriptor.ready(of: [input], within: Rules.pause).isEmpty {}
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
