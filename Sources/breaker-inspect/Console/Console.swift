/// Where output goes and answers come from.
protocol Console: AnyObject {
    /// Whether a person reads the output.
    var outputIsTerminal: Bool { get }
    /// Whether a person can be asked.
    var canAsk: Bool { get }
    /// The columns of the terminal that the output goes to; nil where there is none.
    var width: Int? { get }
    /// The name that the user logged in with.
    var loginName: String { get }

    /// Adds to the output: data.
    func write(_ text: String)
    /// Adds to the talk, which goes to the standard error stream.
    func writeError(_ text: String)
    /// The next line of the input, or nil at its end.
    func readLine() -> String?
}
