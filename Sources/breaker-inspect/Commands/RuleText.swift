import BreakerStore
import BreakerTool

/// The rules that `--rule` gives: a short form of the trip rule alone, or a whole configuration as JSON.
enum RuleText: Hashable, Sendable {
    case trip(TripRule)
    case json(String)

    static let option = Option(
        "rule", "RULE", help: "5/60s, 50%/20/60s or 5x, or JSON: the rules if the circuit is new")

    /// The most bytes of JSON; far more than any configuration needs.
    private static let maxBytes = 4_096

    init(_ text: String) throws(Failure) {
        if text.drop(while: { $0 == " " || $0 == "\n" || $0 == "\t" }).first == "{" {
            guard text.utf8.count <= Self.maxBytes else {
                throw .usage("the rules of '--rule' have \(text.utf8.count) bytes; \(Self.maxBytes) are allowed")
            }
            self = .json(text)
        } else {
            guard let trip = try Self.trip(text) else {
                throw .usage(
                    "option '--rule' takes rules, not \(text.prefix(200).description.quoted)",
                    hint: "write 5/60s for 5 failures within a minute, 50%/20/60s for half of at least 20 calls within "
                        + "a minute, 5x for 5 failures in a row, or a configuration as JSON")
            }
            self = .trip(trip)
        }
        // A configuration needs a name; here only the rules are checked.
        _ = try self.config(named: "-")
    }

    init?(_ arguments: Arguments) throws(Failure) {
        guard let text = arguments[Self.option] else { return nil }
        try self.init(text)
    }

    /// The configuration for a circuit that is missing.
    func config(named name: String) throws(Failure) -> CircuitBreaker.Config {
        do throws(BreakerStoreError) {
            switch self {
            case .trip(let trip):
                let config = CircuitBreaker.Config(name: name, trip: trip)
                try config.check()
                return config
            case .json(let text): return try CircuitBreaker.Config(name: name, json: text)
            }
        } catch {
            throw .usage(
                "option '--rule' has no valid rules: \(error.message.escaped)",
                hint: "'\(Tool.name) show NAME --json' prints the rules of a circuit as JSON, in the member 'rules'")
        }
    }

    /// How the rules differ from those that are stored, for people; nil if they are the same.
    ///
    /// The short forms say nothing about the other rules.
    /// - Parameter config: the configuration that these rules are for the circuit.
    func difference(of config: CircuitBreaker.Config, from stored: CircuitBreaker.Config) -> String? {
        var wanted = config
        if case .trip(let trip) = self {
            wanted = stored
            wanted.trip = trip
        }
        let differences = wanted.differences(from: stored)
        return differences.isEmpty ? nil : differences
    }

    // MARK: - Short forms

    /// Nil for a text of another form.
    private static func trip(_ text: String) throws(Failure) -> TripRule? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        switch parts.count {
        case 1:
            guard let first = parts.first, first.hasSuffix("x"), let count = Self.count(first.dropLast()) else {
                return nil
            }
            return .consecutiveFailures(count)
        case 2:
            guard let count = Self.count(parts[0][...]) else { return nil }
            return .failures(count, within: try Self.window(parts[1]))
        case 3:
            guard parts[0].hasSuffix("%"), let percent = Self.percent(parts[0].dropLast()),
                let calls = Self.count(parts[1][...])
            else { return nil }
            let window = try Self.window(parts[2])
            return .failureRate(percent / 100, minimumCalls: calls, within: window)
        default: return nil
        }
    }

    private static func window(_ text: String) throws(Failure) -> Duration {
        guard let window = DurationArgument.duration(text), window > .zero else {
            throw .usage(
                "the rules of '--rule' have no valid window: \(text.prefix(200).description.quoted)",
                hint: "write a number and one of ms, s, m, h, d, such as 5/60s or 50%/20/5m")
        }
        return window
    }

    private static func count(_ digits: Substring) -> Int? {
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }

    private static func percent(_ digits: Substring) -> Double? {
        guard (1...9).contains(digits.utf8.count), let first = digits.utf8.first, (0x30...0x39).contains(first),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E })
        else { return nil }
        return Double(digits)
    }
}
