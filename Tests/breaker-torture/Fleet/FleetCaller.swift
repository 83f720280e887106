#if PostgreSQL
import BreakerFleetTestSupport
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

/// A host's workers: threads that call a service without end, and an operator who does what the input's lines say.
///
/// Each failure and each probe is noted before the service answers, so before anybody can have counted it.
final class FleetCaller: Sendable {
    private struct Down: Error {}

    static let threads = 2

    private let place: FleetPlace
    private let host: Int
    private let numbers: SharedNumbers
    private let store: CircuitStore
    private let breaker: CircuitBreaker
    /// One of each thread.
    private let logs: [CallLog]

    /// `<directory> <host>`.
    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 2, let host = Int(arguments[1]),
            let caller = try? Self(FleetPlace(arguments[0]), host)
        else { return 64 }
        // Nothing stays behind, whatever becomes of the torture.
        alarm(600)
        for log in caller.logs { Thread.detachNewThread { caller.call(log) } }
        while let line = readLine() {
            var answer: String
            do {
                answer = try caller.perform(line.split(separator: " ").map(String.init))
            } catch {
                answer = "refused=\("\(error)".replacing(" ", with: "_").replacing("\n", with: "_"))"
            }
            answer += "\n"
            let bytes = Array(answer.utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        return 0
    }

    private init(_ place: FleetPlace, _ host: Int) throws {
        self.place = place
        self.host = host
        self.numbers = try place.numbers
        var configuration = CircuitStore.Configuration()
        configuration.clock = OtherHostClock(number: host)
        self.store = try CircuitStore(path: place.file(of: host), configuration: configuration)
        self.breaker = try self.store.breaker(FleetPlace.config)
        self.logs = try place.logs(of: host)
    }

    // MARK: - Calls

    private func call(_ log: CallLog) {
        while true {
            if self.numbers[FleetPlace.isIdle(self.host)] == 0 {
                // A call that was let through by a closed circuit is no probe, whatever becomes of the circuit then.
                let before = self.breaker.state
                let start = FleetPlace.now
                try? self.breaker.run { () throws in try self.answer(mayProbe: before != .closed, log) }
                self.numbers.raise(FleetPlace.slowest, to: FleetPlace.now - start)
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    private func answer(mayProbe: Bool, _ log: CallLog) throws {
        let isProbe = mayProbe && self.breaker.state == .halfOpen
        if isProbe {
            let number = self.begin(.admit, log)
            Thread.sleep(forTimeInterval: 0.03)
            log.end(number, .ran, clock: FleetPlace.now)
        }
        if self.numbers[FleetPlace.isDown] != 0 {
            if !isProbe { log.end(self.begin(.record, log), .done, clock: FleetPlace.now) }
            throw Down()
        }
    }

    /// - Parameter what: a probe, or a failure.
    private func begin(_ what: CallLog.What, _ log: CallLog) -> Int {
        let now = FleetPlace.now
        let argument = what == .record ? RecordedOutcome.failure.rawValue : 0
        return log.begin(CallLog.Record(what: what, circuit: 0, argument: argument, clock: now...now))
    }

    // MARK: - The operator

    private func perform(_ words: [String]) throws -> String {
        let name = FleetPlace.circuit
        let who = "ann@h\(self.host)"
        let time = words.count > 1 ? Int(words[1]).map { Duration.milliseconds($0) } : nil
        switch words.first {
        case "reset": try self.store.reset(name, by: who)
        case "hold-open": try self.store.hold(name, .open, for: time, by: who)
        case "hold-closed": try self.store.hold(name, .closed, for: time, by: who)
        case "release": return try self.release(name, by: who)
        case "probe": try self.store.probe(name, by: who)
        case "look": return try self.look()
        default: return "refused=command"
        }
        return "ok"
    }

    /// Tells whether there was a hold to release: else nobody has said anything.
    private func release(_ name: String, by who: String) throws -> String {
        let before = try self.store.history(of: name, limit: 1).first?.id ?? 0
        try self.store.release(name, by: who)
        let since = try self.store.history(of: name, limit: 100).prefix { $0.id > before }
        return since.contains { $0.kind == .released && $0.by == who } ? "ok" : "nothing"
    }

    private func look() throws -> String {
        guard let circuit = try self.store.circuit(named: FleetPlace.circuit) else { return "state=none" }
        let state =
            switch circuit.beneath ?? circuit.state {
            case .closed: "closed"
            case .open: "open"
            case .halfOpen: "half-open"
            case .held: "held"
            }
        let event = try self.store.history(of: FleetPlace.circuit, limit: 1).first?.id ?? 0
        return "state=\(state) hold=\(circuit.hold?.state.rawValue ?? "none") event=\(event) epoch=\(circuit.epoch)"
    }
}
#endif
