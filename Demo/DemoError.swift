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
        case .waitedInVain(let what): "waited \(Stage.patience.readable) in vain for this: \(what)"
        case .ended(let who): "\(who) ended before its time"
        case .unknownCaller(let name): "the service was called by somebody else: '\(name)'"
        case .interrupted(let signal): "interrupted by signal \(signal)"
        case .failed(let what): "\(what)"
        case .missing(let what): "not to be found: \(what)"
        case .usage: "usage: breaker-demo [fleet]    'fleet' needs the trait PostgreSQL"
        }
    }
}
