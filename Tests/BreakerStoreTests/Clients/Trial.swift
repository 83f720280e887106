/// What the operation of a written call does.
enum Trial: String, CaseIterable, Sendable {
    case good
    case throwing
    /// It returns a value that stands for a failure.
    case bad
    /// The circuit is held open.
    case refused
}
