/// How long to measure.
struct Effort {
    var rounds: Int
    /// Calls of a round, of what takes nanoseconds.
    var fastCalls: Int
    /// Fresh processes for each way to open.
    var processes: Int
    /// Rounds of many processes at once.
    var crowds: Int
    /// Names that a service asks for once.
    var names: Int
    /// Take the fastest round instead of the median: what to compare two builds by on a busy machine.
    var best = false

    static let full = Effort(rounds: 21, fastCalls: 1_000_000, processes: 25, crowds: 7, names: 1_000_000)
    static let quick = Effort(rounds: 7, fastCalls: 200_000, processes: 7, crowds: 3, names: 200_000)
}
