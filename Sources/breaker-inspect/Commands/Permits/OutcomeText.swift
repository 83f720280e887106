import BreakerStore
import BreakerTool

/// An outcome on the command line: `success`, `failure`, `ignored`, `outage` or `outage=30s`.
enum OutcomeText {
    static let error = Option("error", "TEXT", mayBeEmpty: true, help: "what went wrong, for 'show' and the history")
    /// The words that the completion offers; a time is typed by hand.
    static let operand = Operand.one(.words(["success", "failure", "ignored", "outage"]))

    /// - Parameters:
    ///   - text: the word of the command line.
    ///   - mayBeIgnored: whether the verb knows `ignored`.
    static func verdict(_ text: String, mayBeIgnored: Bool, verb: String) throws(Failure) -> Verdict {
        switch text {
        case "success": return .success
        case "failure": return .failure
        case "ignored" where mayBeIgnored: return .ignored
        case "outage": return .outage(for: nil)
        default: break
        }
        let prefix = "outage="
        guard text.hasPrefix(prefix) else {
            let words = ["success", "failure"] + (mayBeIgnored ? ["ignored"] : []) + ["outage", "outage=30s"]
            throw .usage(
                "\(text.quoted) is no outcome", hint: "write one of: \(words.joined(separator: ", "))", verb: verb)
        }
        let time = String(text.dropFirst(prefix.utf8.count))
        // A script passes on what it has got as Retry-After, if anything.
        if time.isEmpty { return .outage(for: nil) }
        if let outage = Verdict.outage(retryAfter: time) { return outage }
        guard let duration = DurationArgument.duration(time) else {
            throw .usage(
                "the outcome \(text.prefix(200).description.quoted) has no valid time",
                hint: "write a duration, or what the provider has sent as Retry-After: outage=90s, outage=90",
                verb: verb)
        }
        return .outage(for: duration)
    }

    /// The text of `--error`; an empty one is none.
    static func error(_ arguments: Arguments) -> String? { arguments[Self.error].flatMap { $0.isEmpty ? nil : $0 } }
}
