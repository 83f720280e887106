/// One call of a worker, as the worker tells of it in a line.
struct Call {
    enum Result: String, CustomStringConvertible {
        case answered
        case failed
        /// The circuit is open.
        case refused
        /// Another worker probes.
        case refusedForAProbe

        var description: String { self.rawValue }
    }

    var started: Moment
    var result: Result

    var line: String { "\(self.started.nanoseconds) \(self.result.rawValue)\n" }

    init(started: Moment, result: Result) {
        self.started = started
        self.result = result
    }

    init?(line: String) {
        let words = line.split(separator: " ")
        guard words.count == 2, let started = Int64(words[0]), let result = Result(rawValue: String(words[1]))
        else { return nil }
        self.init(started: Moment(nanoseconds: started), result: result)
    }
}
