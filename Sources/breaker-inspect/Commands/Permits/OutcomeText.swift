import BreakerStore
import BreakerTool

/// An outcome on the command line: `success`, `failure`, `ignored`, `outage` or `outage=30s`.
enum OutcomeText {
    static let error = Option("error", "TEXT", help: "what went wrong, for 'show' and the history")
    /// Of which the completion knows the beginnings.
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
        return .outage(for: try DurationArgument.parse(String(text.dropFirst(prefix.utf8.count)), for: Self.outage))
    }

    /// Stands for the outcome in the messages of `DurationArgument`.
    private static let outage = Option("outage", "DURATION", help: "")
}
