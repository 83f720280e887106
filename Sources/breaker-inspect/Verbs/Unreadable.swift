import BreakerStore
import BreakerTool

/// Circuits whose rows can't be read: they are reported, and do not stop work on the others.
struct Unreadable {
    private static let namesShown = 5

    let circuits: [UnreadableCircuit]

    init(_ circuits: [UnreadableCircuit]) { self.circuits = circuits }

    /// The failure to report; nil without such circuits.
    var failure: Failure? {
        guard let first = self.circuits.first else { return nil }
        let shown = self.circuits.prefix(Self.namesShown).map(\.name.quoted).joined(separator: ", ")
        let hidden = self.circuits.count - Self.namesShown
        let names = hidden > 0 ? "\(shown) and \(hidden) more" : shown
        let isOne = self.circuits.count == 1
        return Failure(
            .failed,
            isOne ? "the row of circuit \(names) can't be read" : "the rows of circuits \(names) can't be read",
            hint: self.advice(for: isOne ? first.name.asArgument : "NAME")
        )
    }

    private func advice(for name: String) -> String {
        // No service uses a name that is not UTF-8.
        if self.circuits.allSatisfy({ $0.name.unicodeScalars.contains("\u{FFFD}") }) {
            return "'\(Tool.name) forget \(name)' deletes the row"
        }
        return "the next call of its service or '\(Tool.name) reset \(name)' replaces it, without its hold; "
            + "'\(Tool.name) forget \(name)' deletes it"
    }

    /// Reports them on standard error.
    ///
    /// - Returns: the exit code, which is `code` if there are none.
    func report(in context: Context, orElse code: ExitCode = .done) -> ExitCode {
        guard let failure = self.failure else { return code }
        context.console.writeError(failure)
        return code == .done ? failure.code : code
    }

    var names: [String] { self.circuits.map(\.name) }
}
