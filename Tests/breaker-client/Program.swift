import BreakerStore
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A service's worker that calls another service by URLSession, and gives its calls up when it is told to end.
///
/// Its arguments are the store, the other service's port and how many calls it makes at once. It answers each line of
/// its input with one line: `begin` begins the calls; `result` waits for their ends.
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
        var calls: [Task<End, Never>] = []
        var signals: (any DispatchSourceSignal)?
        while let line = readLine() {
            switch line {
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
