/// The output, the input and the terminal of a program.
package protocol Console: AnyObject {
    /// Whether a person reads the output.
    var outputIsTerminal: Bool { get }
    /// Whether a person reads the messages.
    var errorIsTerminal: Bool { get }
    /// Whether the program can ask a person.
    var canAsk: Bool { get }
    /// The columns of the output's terminal; nil without a terminal.
    var width: Int? { get }
    /// The lines of that terminal.
    var height: Int? { get }
    /// The columns of the terminal that shows the messages; nil without a terminal.
    var errorWidth: Int? { get }
    /// The name by which the user logged in.
    var loginName: String { get }
    /// The name of this host.
    var hostName: String { get }

    /// Adds data to the output; `writeLines` is for texts.
    func write(_ text: String)
    /// Adds a text to standard error without wrapping it; `writeError` is for messages.
    func writeErrorAsItIs(_ text: String)
    /// Writes the buffered output.
    func flush()
    /// Whether all output that was flushed until now could be written.
    var hasWrittenAll: Bool { get }
    /// The next line of the input, or nil at its end.
    func readLine() -> String?

    /// From now on an interrupt (SIGINT or SIGTERM) only sets `isInterrupted`; a second one ends the process.
    func deferInterrupts()
    /// From now on an interrupt ends the process at once, as it does by default.
    func stopDeferringInterrupts()
    /// Whether the process received an interrupt while interrupts were deferred.
    var isInterrupted: Bool { get }

    /// Waits for this time.
    ///
    /// - Parameter listening: whether the pause ends early if the terminal's content is disturbed, or the output's last
    ///   reader is gone.
    func pause(for duration: Duration, listening: Bool) -> Pause
    /// Switches to the terminal's alternate screen; the old content returns with `leaveScreen`, or when a signal ends
    /// the process.
    func enterScreen()
    func leaveScreen()
}

/// The reason why a pause ended.
package enum Pause: Sendable {
    case isOver
    /// The terminal has a new size, or another program has used it.
    case disturbed
    case nobodyReads
}
