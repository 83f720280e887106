import BreakerTool

/// The result of one of the doctor's checks.
struct Finding: Equatable, Sendable {
    enum Status: String, Sendable {
        case ok
        /// Worth knowing; nobody has to act.
        case note
        case wrong

        var look: Look {
            switch self {
            case .ok: .good
            case .note: .doubtful
            case .wrong: .bad
            }
        }
    }

    /// The name of the check.
    var check: String
    var status: Status
    var finding: String
    /// The advice to the operator.
    var advice: String?

    static func ok(_ check: String, _ finding: String) -> Finding {
        Finding(check: check, status: .ok, finding: finding, advice: nil)
    }

    static func note(_ check: String, _ finding: String, _ advice: String? = nil) -> Finding {
        Finding(check: check, status: .note, finding: finding, advice: advice)
    }

    static func wrong(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, status: .wrong, finding: finding, advice: advice)
    }
}
