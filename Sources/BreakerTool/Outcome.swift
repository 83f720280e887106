/// The result of a search of the store.
///
/// Not `Result`, for which the runtime would search for a conformance; see `Environment`.
package enum Outcome<Value> {
    case success(Value)
    case failure(Failure)

    package func get() throws(Failure) -> Value {
        switch self {
        case .success(let value): return value
        case .failure(let failure): throw failure
        }
    }

    package func flatMap<Other>(_ transform: (Value) -> Outcome<Other>) -> Outcome<Other> {
        switch self {
        case .success(let value): transform(value)
        case .failure(let failure): .failure(failure)
        }
    }

    package func map<Other>(_ transform: (Value) -> Other) -> Outcome<Other> {
        self.flatMap { .success(transform($0)) }
    }
}
