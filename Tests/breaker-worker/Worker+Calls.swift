import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Calls and their ends.
extension Worker {
    /// `call|fail <circuit> [<times>] [until-refused] [async]`: calls, one after the other.
    ///
    /// With `async` they are made by the form that suspends.
    func call(_ command: Command) async throws -> String {
        command.has("async") ? try await self.callsSuspending(command).text : try self.calls(command).text
    }

    func calls(_ command: Command) throws -> CircuitCounters {
        let breaker = try self.breaker(command.word(0))
        let fails = command.verb == "fail"
        var tally = CircuitCounters()
        self.slowest = .zero
        for _ in 0..<((try? command.number(1)) ?? 1) {
            let start = ContinuousClock.now
            do {
                try breaker.run {
                    tally.ran += 1
                    if fails { throw Boom() }
                }
            } catch {
                try tally.end(in: error)
            }
            self.slowest = max(self.slowest, ContinuousClock.now - start)
            if tally.refused > 0, command.has("until-refused") { break }
        }
        return tally
    }

    func callsSuspending(_ command: Command) async throws -> CircuitCounters {
        let breaker = try self.breaker(command.word(0))
        let fails = command.verb == "fail"
        var tally = CircuitCounters()
        self.slowest = .zero
        for _ in 0..<((try? command.number(1)) ?? 1) {
            let start = ContinuousClock.now
            do {
                try await breaker.run { () async throws in
                    tally.ran += 1
                    if fails { throw Boom() }
                }
            } catch {
                try tally.end(in: error)
            }
            self.slowest = max(self.slowest, ContinuousClock.now - start)
            if tally.refused > 0, command.has("until-refused") { break }
        }
        return tally
    }

    /// `fail-tasks <circuit> <tasks>`: one failing call in each of many tasks at once.
    func failInTasks(_ command: Command) async throws -> String {
        let breaker = try self.breaker(command.word(0))
        let tasks = try command.number(1)
        let tally = await withTaskGroup(of: CircuitOpenError?.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    do {
                        return try await breaker.run { throw Boom() }
                    } catch {
                        return error as? CircuitOpenError
                    }
                }
            }
            return await group.reduce(into: CircuitCounters()) { tally, refusal in
                if let refusal { tally.refuse(refusal) } else { tally.failed += 1 }
            }
        }
        return tally.text
    }

    /// `fail-and-die <circuit>`: one failing call, and SIGKILL as soon as it is acknowledged.
    func failAndDie(_ command: Command) throws -> String {
        let breaker = try self.breaker(command.word(0))
        breaker.recordFailure(Boom())
        kill(getpid(), SIGKILL)
        return "alive"
    }

    /// `admit <circuit>`: takes leave for one call.
    func admit(_ command: Command) throws -> String {
        let breaker = try self.breaker(command.word(0))
        var tally = CircuitCounters()
        let start = ContinuousClock.now
        defer { self.slowest = ContinuousClock.now - start }
        do throws(CircuitOpenError) {
            let permit: CallPermit = try breaker.admit()
            self.permit = permit
            tally.ran = 1
        } catch {
            tally.refuse(error)
        }
        return tally.text
    }

    /// `succeed|failed|discard`: ends the call that was admitted last.
    func end(_ command: Command) throws -> String {
        guard let permit = self.permit else { throw Missing(what: "a permit") }
        self.permit = nil
        switch command.verb {
        case "succeed": permit.succeed()
        case "failed": permit.fail(Boom())
        default: permit.discard()
        }
        return "ok"
    }

    /// `handles <circuit> <times>`: takes the handle of one circuit again and again.
    func takeHandles(_ command: Command) throws -> String {
        let store = try self.store
        let config = try self.breaker(command.word(0)).config
        let times = try command.number(1)
        // What is allocated once is no growth.
        for _ in 0..<10_000 { _ = try store.breaker(config) }
        let before = Self.residentPages
        for _ in 0..<times { _ = try store.breaker(config) }
        return "pages=\(Self.residentPages - before)"
    }

    private static var residentPages: Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var text = [CChar](repeating: 0, count: 256)
        let count = unsafe fread(&text, 1, text.count - 1, file)
        let words = String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}

/// How calls went.
struct CircuitCounters {
    var ran = 0
    var failed = 0
    var refused = 0
    var refusal: CircuitOpenError?

    mutating func refuse(_ error: CircuitOpenError) {
        self.refused += 1
        self.refusal = error
    }

    /// Counts a call that ended in an error, and throws what no call of ours ends in.
    mutating func end(in error: any Error) throws {
        switch error {
        case let error as CircuitOpenError: self.refuse(error)
        case is Boom: self.failed += 1
        default: throw error
        }
    }

    var text: String {
        var text = "ran=\(self.ran) failed=\(self.failed) refused=\(self.refused)"
        if let refusal = self.refusal {
            text += " cause=\(refusal.cause.rawValue)"
            if let wait = refusal.retryAfter { text += " wait=\(Int64((wait / .microseconds(1)).rounded()))" }
            if let by = refusal.hold?.by { text += " by=\(by)" }
            if let reason = refusal.hold?.reason { text += " reason=\(reason)" }
            if refusal.cause == .held, let error = refusal.lastError { text += " error=\(error)" }
        }
        return text
    }
}
