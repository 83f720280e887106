/// Where output goes and answers come from.
package protocol Console: AnyObject {
    /// Whether a person reads the output.
    var outputIsTerminal: Bool { get }
    /// Whether a person can be asked.
    var canAsk: Bool { get }
    /// The columns of the terminal that the output goes to; nil where there is none.
    var width: Int? { get }
    /// The lines of that terminal.
    var height: Int? { get }
    /// The name that the user logged in with.
    var loginName: String { get }
    /// The name of this host.
    var hostName: String { get }

    /// Adds to the output: data.
    func write(_ text: String)
    /// Adds to the talk, which goes to the standard error stream.
    func writeError(_ text: String)
    /// Hands over what was written.
    func flush()
    /// The next line of the input, or nil at its end.
    func readLine() -> String?

    /// Lets time pass.
    ///
    /// - Parameter listening: whether it ends as soon as nobody reads the output any more.
    func pause(for duration: Duration, listening: Bool) -> Pause
    /// Takes the whole terminal; what stood there comes back when it is left, or when a signal ends the process.
    func enterScreen()
    func leaveScreen()
}

/// How a pause ended.
package enum Pause: Sendable {
    case isOver
    /// The terminal has another size, or was somebody else's in the meantime.
    case disturbed
    case nobodyReads
}
