/// How one attempt of a call went; what the operation has returned, the caller keeps.
enum Attempt {
    case returned(Ending)
    case threw(any Error, Ending)
    case refused(CircuitOpenError)

    /// What the caller gets.
    ///
    /// - Parameter value: what the operation has returned; it is there if the attempt has returned.
    func get<T>(_ value: T?) throws -> T {
        switch self {
        case .returned: if let value { return value }
        case .threw(let error, _): throw error
        case .refused(let refusal): throw refusal
        }
        throw CancellationError()
    }

    /// The error in whose place a fallback comes; nil if the caller gets the value or the error itself.
    ///
    /// A cancelled caller wants no answer any longer, and what is ignored says nothing about the service.
    var errorForFallback: (any Error)? {
        if Task.isCancelled { return nil }
        switch self {
        case .returned(let ending), .threw(_, let ending): return ending.verdict.isFailure ? ending.error : nil
        case .refused(let refusal): return refusal
        }
    }

    /// How the operation ended; nil if it did not run.
    var ending: Ending? {
        switch self {
        case .returned(let ending), .threw(_, let ending): ending
        case .refused: nil
        }
    }

    var result: CallOutcome.Result { self.ending.map { CallOutcome.Result($0.verdict) } ?? .refused }
}
