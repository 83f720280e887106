import BreakerStore
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A service's worker that calls another service by URLSession, and gives its calls up when it is told to end.
///
/// Its arguments are the store, the other service's port and how many calls it makes at once. It answers each line of
/// its input with one line: `begin` begins the calls; `result` waits for their ends; `get PATH` makes one call as
/// "Recipes" does, and `execute STATUS [RETRY-AFTER]` one with another client that gets such an answer.
@main
enum Program {
    private enum End: Equatable {
        case value, fallback
        case threw(String)
    }

    static func main() async throws {
        // Nothing stays behind, whatever becomes of the tests.
        alarm(120)
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]),
            let url = URL(string: "http://127.0.0.1:\(arguments[2])/")
        else { fatalError("usage: breaker-client STORE PORT CALLS") }
        let store = try CircuitStore(path: arguments[1])
        let breaker = try store.breaker(.init(name: "service"))
        let recipe = try store.breaker(.init(name: "recipe"), calls: .http)
        var calls: [Task<End, Never>] = []
        var signals: (any DispatchSourceSignal)?
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "get":
                let page = url.appending(path: words[1])
                print(await Self.end { "status=\(try await get(page, through: recipe).1.statusCode)" })
            case "execute":
                let answer = HTTPClientResponse(
                    status: HTTPResponseStatus(code: UInt(words[1]) ?? 0),
                    headers: HTTPHeaders(retryAfter: words.dropFirst(2).first))
                let request = HTTPClientRequest(url: url.absoluteString)
                let client = HTTPClient(answer: answer)
                print(await Self.end { "status=\(try await send(request, with: client, through: recipe).status.code)" })
            case "begin":
                calls = (0..<count).map { _ in Task.detached { await Self.call(url, breaker) } }
                signals = Self.cancelAtTheEnd(calls)
                print("begun")
            default:
                var ends: [End] = []
                for call in calls { ends.append(await call.value) }
                let thrown = ends.compactMap { if case .threw(let error) = $0 { error } else { nil } }
                print(
                    "fallbacks=\(ends.count { $0 == .fallback }) thrown=\(Set(thrown).sorted().joined(separator: ","))")
            }
            fflush(nil)
        }
        signals?.cancel()
        store.close()
    }

    /// What came of a call, in a line.
    private static func end(of call: () async throws -> String) async -> String {
        do {
            return try await call()
        } catch let answer as BadAnswer {
            return "bad=\(answer.status)"
        } catch let refusal as CircuitOpenError {
            return "retry-after=\(refusal.retryAfter.map { "\($0.components.seconds)" } ?? "none")"
        } catch {
            return "error=\(type(of: error))"
        }
    }

    private static func call(_ url: URL, _ breaker: CircuitBreaker) async -> End {
        do {
            return try await breaker.run {
                _ = try await URLSession.shared.data(from: url)
                return .value
            } fallback: { _ in
                .fallback
            }
        } catch let error as URLError {
            return .threw("URLError.\(error.code == .cancelled ? "cancelled" : "\(error.code.rawValue)")")
        } catch {
            return .threw("\(type(of: error))")
        }
    }

    /// As servers do: SIGTERM cancels what is still going on.
    private static func cancelAtTheEnd(_ calls: [Task<End, Never>]) -> any DispatchSourceSignal {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        source.setEventHandler { for call in calls { call.cancel() } }
        source.resume()
        return source
    }
}
