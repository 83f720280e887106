import BreakerTestSupport

/// What an enemy, or a flipped bit, has made of a store's files.
struct HostileCase: CustomStringConvertible, Sendable {
    /// What comes of a file once a service has opened it.
    enum Outcome: String {
        case used
        /// The service guards in memory.
        case refused
        case quarantine = "set aside"
        /// There was no database any more, and a new one was begun.
        case anew
    }

    /// SQLite does not let the file be made.
    struct NotWritable: Error {}

    /// What is counted in the report.
    let kind: String
    let name: String
    /// Puts the files into the store's directory; the same each time.
    let place: @Sendable (HostilePlace) throws -> Void
    /// What happens to the files while a process has the store open; nil for nothing.
    var strike: (@Sendable (HostilePlace) throws -> Void)?
    /// Whether the circuits that nobody touched must go on refusing.
    var keepsOthers = false
    /// What may come of the file, where that is known.
    var outcomes: Set<Outcome>?
    /// Whether a service must not take these files for its own.
    var mustRefuse = false
    /// Whether a service must be able to use the file in the end, rather than be guarded by memory.
    var mustRepair = false
    /// Whether an operator's word on `closed` must be heard.
    var mustObey = false
    /// Whether there are so many of its kind that each is read by some of the verbs.
    var isOneOfMany = false
    /// Whether it is too large to be made twice.
    var isLarge = false
    /// The words of a command that runs the tool, with limits of its own.
    var launcher: [String] = []
    /// The tool's directory for temporary files, if not one of its own.
    var temporary: String?
    /// What else must not be, by what the runs of the tool said, and by the files in the end.
    var judge: @Sendable (HostilePlace, [ToolRun]) -> [String] = { _, _ in [] }

    var description: String { "\(self.kind): \(self.name)" }

    static let reading = [
        ["list"], ["show", "closed"], ["check"], ["history"], ["workers"], ["doctor"], ["list", "--json"],
    ]
    static let writing = [
        ["reset", "closed", "--yes"], ["hold", "open", "closed", "--yes"], ["release", "held"],
        ["forget", "closed", "--force", "--yes"],
    ]
}
