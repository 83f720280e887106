import BreakerStore
import BreakerTestSupport
import Testing

/// An event as a worker tells of it.
struct Heard: Hashable, CustomStringConvertible {
    let id: Int
    let kind: CircuitEvent.Kind
    let circuit: String
    let from: String
    let to: String
    let by: String
    let pid: String
    var isOwn: Bool
    var at: Int
    let reason: String

    init?(_ text: Substring) {
        let parts = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 10, let id = Int(parts[0]),
            let at = Int(parts[8])
        else { return nil }
        self.id = id
        self.kind = CircuitEvent.Kind(rawValue: parts[1])
        self.circuit = parts[2]
        self.from = parts[3]
        self.to = parts[4]
        self.by = parts[5]
        self.pid = parts[6]
        self.isOwn = parts[7] == "own"
        self.at = at
        self.reason = parts[9]
    }

    var description: String {
        "\(self.id) \(self.circuit): \(self.from) -\(self.kind)-> \(self.to) by '\(self.by)' in \(self.pid)"
    }

    /// The same as others see it.
    ///
    /// Without the time: the two hands of the tests' clock move one after the other, and who looks in between sees
    /// another wall time.
    var ofAll: Heard {
        var event = self
        event.isOwn = false
        event.at = 0
        return event
    }
}

extension WorkerProcess {
    /// The whole history, oldest first.
    func history() async throws -> [Heard] { try self.read(try await self.ask("events")) }

    /// What the worker's stream or handler has heard, once that is all up to an event.
    func heard(_ ear: String, upTo newest: Int) async throws -> [Heard] {
        try self.read(try await self.ask("heard \(ear) \(newest)"))
    }

    private func read(_ reply: Reply) throws -> [Heard] {
        let words = reply.description.split(separator: " ").dropFirst()
        let events = words.compactMap { Heard($0) }
        try #require(events.count == reply.number("count"))
        return events
    }
}

extension [WorkerProcess] {
    /// Each worker's stream and handler has told the whole history, each event once and in order; each event was one
    /// process's own.
    func expectAllHeard(_ history: [Heard], _ comment: Comment? = nil) async throws {
        let newest = history.last?.id ?? 0
        let expected = history.map(\.ofAll)
        var owners = [Int](repeating: 0, count: history.count)
        for worker in self {
            for ear in ["stream", "handler"] {
                let heard = try await worker.heard(ear, upTo: newest)
                guard heard.map(\.ofAll) == expected else {
                    let text = zip(heard, history).first { $0.ofAll != $1.ofAll }.map { "\($0), not \($1)" }
                    Issue.record(
                        "\(worker.pid)'s \(ear): \(heard.count) of \(history.count); \(text ?? ""); \(comment ?? "")")
                    return
                }
                let foreign = heard.first { $0.isOwn && $0.pid != "\(worker.pid)" }
                #expect(foreign == nil, comment)
                if ear == "stream" {
                    for (place, event) in heard.enumerated() where event.isOwn { owners[place] += 1 }
                }
            }
        }
        #expect(owners.allSatisfy { $0 == 1 }, comment)
    }
}
