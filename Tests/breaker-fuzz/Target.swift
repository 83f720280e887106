/// Something of the library or the tool that reads bytes which others wrote.
///
/// Sendable, and used by one thread at a time.
protocol Target: Sendable {
    /// Feeds it the bytes; throws a `Violation` when it does anything but what is promised.
    func feed(_ bytes: [UInt8]) throws

    /// Inputs to begin with: valid ones, and ones that are nearly so.
    var seeds: [[UInt8]] { get throws }
}

/// What the command line calls each target.
enum TargetName: String, CaseIterable {
    case header
    case log
    case lock
    case config
    case arguments
    case rows
    case rules

    func make(in scratch: Scratch) throws -> any Target {
        switch self {
        case .header: try HeaderTarget(scratch)
        case .log: try LogTarget(scratch)
        case .lock: LockTarget(scratch)
        case .config: ConfigTarget()
        case .arguments: try ArgumentsTarget(scratch)
        case .rows: try RowsTarget(scratch)
        case .rules: RulesTarget()
        }
    }
}
