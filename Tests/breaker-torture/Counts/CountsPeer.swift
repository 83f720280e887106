import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process of the scene `moments`, which does what the lines of its input say.
final class CountsPeer {
    private struct Bad: Error {}
    private struct Missing: Error {}

    private let directory: String
    private let process: Int
    /// Where processes wait for each other: the number of the round that has begun.
    private let gate: SharedNumbers
    private var open: (store: CircuitStore, breaker: CircuitBreaker)?

    /// - Parameter arguments: the directory, and which process it is.
    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 2, let process = Int(arguments[1]),
            let peer = try? Self(arguments[0], process)
        else { return 64 }
        alarm(600)
        while let line = readLine() {
            var answer: String
            do {
                answer = try peer.perform(line.split(separator: " ").map(String.init))
            } catch {
                answer = "error \(error)".replacing("\n", with: " ")
            }
            answer += "\n"
            let bytes = Array(answer.utf8)
            _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
        }
        return 0
    }

    private init(_ directory: String, _ process: Int) throws {
        self.directory = directory
        self.process = process
        self.gate = try SharedNumbers(path: directory + "/gate")
    }

    private var breaker: CircuitBreaker {
        get throws {
            guard let open = self.open else { throw Missing() }
            return open.breaker
        }
    }

    private func perform(_ words: [String]) throws -> String {
        let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
        switch words.first {
        case "open":
            guard let rule = CountsRule(words: Array(words[2...])) else { throw Missing() }
            self.open?.store.close()
            let store = try CountsCaller.openStore("\(self.directory)/\(words[1])")
            self.open = (store, try rule.register(in: store))
            return "ok"
        case "fail": return try self.fail(count)
        // Dies without a word once the calls have returned.
        case "fail-and-die":
            _ = try self.fail(count)
            kill(getpid(), SIGKILL)
            return "ok"
        case "call":
            for _ in 0..<count { try self.breaker.run {} }
            return "ok"
        // Fails as soon as the gate opens; so do others, at this very moment.
        case "fail-at-gate":
            let breaker = try self.breaker
            self.gate.add(1, at: 1)
            while self.gate[0] < Int64(count) {}
            return try self.fail(4, breaker)
        // Fails, each time with a good call, until the gate opens.
        case "mix-until-gate":
            let breaker = try self.breaker
            while self.gate[0] < Int64(count) {
                _ = try self.fail(1, breaker)
                for _ in 0..<20 { try? breaker.run {} }
            }
            return try self.fail(1, breaker)
        default: throw Missing()
        }
    }

    private func fail(_ times: Int) throws -> String { try self.fail(times, self.breaker) }

    /// Says how many of the calls ran.
    private func fail(_ times: Int, _ breaker: CircuitBreaker) throws -> String {
        var ran = 0
        for _ in 0..<times {
            do {
                try breaker.run {
                    ran += 1
                    throw Bad()
                }
            } catch {}
        }
        return "ran=\(ran)"
    }
}
