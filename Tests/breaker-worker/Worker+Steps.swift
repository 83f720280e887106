import BreakerStore
import BreakerTestSupport

/// The verb `steps`: sequences of whatever can be done to a circuit, for the random walks of processes.
extension Worker {
    /// `steps <who> <step>...`: a step is a verb, a circuit and more, parted by colons.
    ///
    /// A circuit that somebody has forgotten just now is no error.
    func takeSteps(_ command: Command) throws -> String {
        let who = try command.word(0)
        for step in command.rest(1).split(separator: " ") {
            let words = step.split(separator: ":").map(String.init)
            do {
                try self.take(Command(words.joined(separator: " ")), by: who)
            } catch let error as BreakerStoreError where error.code == .noSuchCircuit {
                continue
            } catch {
                throw Missing(what: "a way to \(step): \(error)")
            }
        }
        return "ok"
    }

    private func take(_ step: Command, by who: String) throws {
        let name = try step.word(0)
        switch step.verb {
        case "call", "fail": _ = try self.calls(step)
        case "record": try self.breaker(name).recordFailure(Boom())
        case "admit": self.permits[name] = try? self.admitted(to: name)
        case "succeed": self.permits.removeValue(forKey: name)?.succeed()
        case "failed": self.permits.removeValue(forKey: name)?.fail(Boom())
        case "discard": self.permits.removeValue(forKey: name)?.discard()
        case "reset": try self.store.reset(name, by: who)
        case "probe": try self.store.probe(name, by: who)
        case "hold":
            let time = step.option("for").map { Duration.milliseconds($0) }
            try self.store.hold(name, HoldState(rawValue: try step.word(1)) ?? .open, for: time, by: who)
        case "release": try self.store.release(name, by: who)
        case "forget": try self.store.forget(name)
        case "register": self.breakers[name] = try self.store.breaker(self.config(named: name, step))
        case "advance": try self.clock.advance(by: .milliseconds(step.number(0)))
        default: throw Missing(what: "a step '\(step.verb)'")
        }
    }

    private func admitted(to name: String) throws -> CallPermit { try self.breaker(name).admit() }

    /// `operate <circuit> <who> <times>`: resets, holds open and holds closed in turn, numbered by the reasons.
    func operate(_ command: Command) throws -> String {
        let (name, who) = (try command.word(0), try command.word(1))
        for number in 0..<(try command.number(2)) {
            let reason = "\(number)"
            switch number % 3 {
            case 0: try self.store.reset(name, by: who, reason: reason)
            case 1: try self.store.hold(name, .open, by: who, reason: reason)
            default: try self.store.hold(name, .closed, by: who, reason: reason)
            }
        }
        return "ok"
    }
}
