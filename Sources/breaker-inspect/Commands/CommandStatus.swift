/// How a command ended.
enum CommandStatus: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    case notExecuted(NotExecuted)

    /// Why a command was not executed.
    enum NotExecuted: Hashable, Sendable {
        case noSuchCommand
        case notExecutable
        /// The system could not make a process.
        case noProcess
    }
}
