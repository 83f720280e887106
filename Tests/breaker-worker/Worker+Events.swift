import BreakerStore
import BreakerTestSupport
import FoundationEssentials

/// What a process hears of the history, both ways.
final class Ears: Sendable {
    let handled = Locked<[CircuitEvent]>([])
    let streamed = Locked<[CircuitEvent]>([])

    /// The handler of a configuration.
    var handle: @Sendable (CircuitEvent) -> Void {
        { [handled] event in handled.withLock { $0.append(event) } }
    }

    func follow(_ events: AsyncStream<CircuitEvent>) {
        Task { [streamed] in
            for await event in events { streamed.withLock { $0.append(event) } }
        }
    }
}

/// The history, as it is and as it was heard.
extension Worker {
    /// `heard handler|stream <id>`: what was heard, once the event of that number or a later one was.
    func tellWhatWasHeard(_ command: Command) async throws -> String {
        let heard = try command.word(0) == "handler" ? self.ears.handled : self.ears.streamed
        let newest = Int64(try command.number(1))
        while heard.withLock({ $0.last?.id ?? -1 }) < newest { try await Task.sleep(for: .milliseconds(1)) }
        return Self.text(heard.withLock { $0 })
    }

    /// `events`: the whole history, oldest first.
    func tellHistory() throws -> String { Self.text(try self.store.history(limit: 1_000_000).reversed()) }

    /// The test reads it as `Heard`.
    private static func text(_ events: [CircuitEvent]) -> String {
        let texts = events.map { event in
            [
                "\(event.id)", event.kind.rawValue, event.circuit, event.from, event.to, event.by,
                event.pid.map { "\($0)" }, event.isOwn ? "own" : nil,
                "\(Int64((event.at.timeIntervalSince1970 * 1_000_000).rounded()))",
                event.reason?.split(separator: " ").joined(separator: "_"),
            ]
            .map { $0 ?? "" }.joined(separator: "|")
        }
        return "count=\(texts.count) " + texts.joined(separator: " ")
    }
}
