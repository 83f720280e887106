/// Why the demo could not go on.
enum DemoError: Error, CustomStringConvertible {
    case system(String, code: Int32)
    case waitedInVain(String)
    case ended(String)
    case unknownCaller(String)
    case interrupted(signal: Int32)
    case failed(String)
    case missing(String)
    case usage

    var description: String {
        switch self {
        case .system(let what, let code): "cannot \(what): system error \(code)"
        case .waitedInVain(let what): "gave up after \(Stage.patience.readable) of waiting for this: \(what)"
        case .ended(let who): "\(who) ended unexpectedly"
        case .unknownCaller(let name): "the service was called by an unknown caller: '\(name)'"
        case .interrupted(let signal): "interrupted by signal \(signal)"
        case .failed(let what): "\(what)"
        case .missing(let what): "not found: \(what)"
        case .usage: "usage: breaker-demo [fleet]    'fleet' needs the trait PostgreSQL"
        }
    }
}
