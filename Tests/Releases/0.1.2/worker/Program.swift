import BreakerStore_0_1_2
import Foundation

struct Boom: Error {}
struct Missing: Error {}

/// A process of release 0.1.2 that shares a store with the tests: it does what the lines of its input say, and answers each
/// with one line.
///
/// Its only argument is the file of the clock that it lives by.
@main
enum Program {
    nonisolated(unsafe) private static var store: CircuitStore?
    // Used by the main thread alone.
    nonisolated(unsafe) private static var breakers: [String: CircuitBreaker] = [:]

    static func main() {
        // Nothing stays behind, whatever becomes of the tests.
        alarm(120)
        guard CommandLine.arguments.count == 2, let clock = Clock(path: CommandLine.arguments[1]) else { exit(64) }
        while let line = readLine() {
            var words = line.split(separator: " ").map(String.init)
            let verb = words.isEmpty ? "" : words.removeFirst()
            do {
                self.say(try self.perform(verb, words, clock))
            } catch {
                self.say("error \(error)")
            }
        }
        unsafe self.store?.close()
    }

    private static func perform(_ verb: String, _ words: [String], _ clock: Clock) throws -> String {
        switch verb {
        case "open":
            var configuration = CircuitStore.Configuration()
            configuration.clock = clock
            configuration.busyTimeout = .seconds(20)
            unsafe self.store = try CircuitStore(path: try self.word(words, 0), configuration: configuration)
            return "ok"
        case "close":
            unsafe self.store?.close()
            unsafe self.store = nil
            return "ok"
        case "health": return "health=\(unsafe self.store?.health ?? .closed)"
        case "breaker":
            let name = try self.word(words, 0)
            func number(_ option: String, or fallback: Int) -> Int {
                words.first { $0.hasPrefix("\(option)=") }.flatMap { Int($0.dropFirst(option.count + 1)) } ?? fallback
            }
            let config = CircuitBreaker.Config(
                name: name, recoveryTimeout: .seconds(number("recovery", or: 30)),
                maxFailures: number("failures", or: 5), rollingWindow: .seconds(number("window", or: 60)))
            unsafe self.breakers[name] = try self.store?.breaker(config)
            return "ok"
        case "call", "fail": return try self.call(try self.word(words, 0), fails: verb == "fail", words)
        case "look":
            let breaker = try self.breaker(words)
            return "counted=\(breaker.failureCount) permitted=\(breaker.isCallPermitted) trip=\(breaker.config.trip)"
                .replacingOccurrences(of: ", ", with: "_").replacingOccurrences(of: " ", with: "_")
                .replacingOccurrences(of: "_permitted", with: " permitted").replacingOccurrences(of: "_trip", with: " trip")
        case "reset": try unsafe self.store?.reset(try self.word(words, 0))
        case "hold": try unsafe self.store?.hold(try self.word(words, 0), try self.word(words, 1) == "open" ? .open : .closed)
        case "release": try unsafe self.store?.release(try self.word(words, 0))
        default: throw Missing()
        }
        return "ok"
    }

    /// `call|fail NAME [TIMES]`: how many ran, and how many were refused.
    private static func call(_ name: String, fails: Bool, _ words: [String]) throws -> String {
        let breaker = try self.breaker([name])
        var (ran, refused) = (0, 0)
        for _ in 0..<(words.count > 1 ? Int(words[1]) ?? 1 : 1) {
            do {
                try breaker.run {
                    ran += 1
                    if fails { throw Boom() }
                }
            } catch is CircuitOpenError {
                refused += 1
            } catch is Boom {}
        }
        return "ran=\(ran) refused=\(refused)"
    }

    private static func breaker(_ words: [String]) throws -> CircuitBreaker {
        guard let breaker = unsafe self.breakers[try self.word(words, 0)] else { throw Missing() }
        return breaker
    }

    private static func word(_ words: [String], _ place: Int) throws -> String {
        guard words.indices.contains(place) else { throw Missing() }
        return words[place]
    }

    /// One write, so that a line is out before whatever comes next.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text.split(separator: "\n").joined(separator: " ") + "\n").utf8))
    }
}
