#if PostgreSQL
/// What a host's callers have written down.
struct FleetCall: Sendable {
    enum Kind: String, Sendable {
        case failed = "F"
        case probeBegan = "B"
        case probeEnded = "E"
    }

    var kind: Kind
    /// In microseconds since this machine booted.
    var at: Int64

    /// All of a host; a line that a killed process left unfinished is none.
    static func read(_ path: String) -> [Self] {
        let text = String(decoding: FileBytes.read(path) ?? [], as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let kind = Kind(rawValue: String(words[0])), let at = Int64(words[1]) else {
                return nil
            }
            return Self(kind: kind, at: at)
        }
    }

    /// The probes of a host, from their beginning to their end.
    ///
    /// One host probes once at a time: a probe whose process was killed ends where it began.
    static func probes(in calls: [Self]) -> [Range<Int64>] {
        var probes: [Range<Int64>] = []
        var began: Int64?
        for call in calls.sorted(by: { $0.at < $1.at }) {
            switch call.kind {
            case .failed: break
            case .probeBegan:
                if let began { probes.append(began..<began + 1) }
                began = call.at
            case .probeEnded:
                if let start = began { probes.append(start..<max(start + 1, call.at)) }
                began = nil
            }
        }
        if let began { probes.append(began..<began + 1) }
        return probes
    }
}
#endif
