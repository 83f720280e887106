/// Why there are no figures, or not those that were promised.
enum BenchError: Error, CustomStringConvertible {
    case usage
    case tookTooLong(String)
    case broken(String)

    var description: String {
        switch self {
        case .usage: "this program is run by scripts/bench-fleet.sh"
        case .tookTooLong(let what): "not in time: \(what)"
        case .broken(let promise): "a promise is broken: \(promise)"
        }
    }
}
