import BreakerStore
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls by URLSession that a service gives up when it is told to end: SIGTERM cancels those that still go on.
final class CancelledCalls {
    private enum End: Equatable {
        case value, fallback
        case threw(String)
    }

    private let calls: [Task<End, Never>]
    private let signals: any DispatchSourceSignal

    /// Begins so many calls at once.
    init(_ breaker: CircuitBreaker, _ url: URL, count: Int) {
        let calls = (0..<count).map { _ in Task.detached { await Self.call(url, breaker) } }
        signal(SIGTERM, SIG_IGN)
        self.calls = calls
        self.signals = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        self.signals.setEventHandler { for call in calls { call.cancel() } }
        self.signals.resume()
    }

    /// Waits for the end of each; how many ended in the fallback, and the errors of the others.
    var ends: String {
        get async {
            var ends: [End] = []
            for call in self.calls { ends.append(await call.value) }
            let thrown = ends.compactMap { if case .threw(let error) = $0 { error } else { nil } }
            return "fallbacks=\(ends.count { $0 == .fallback }) thrown=\(Set(thrown).sorted().joined(separator: ","))"
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

    deinit { self.signals.cancel() }
}
