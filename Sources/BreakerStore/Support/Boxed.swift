/// A value of which only the address stands in place: few of very many have one, and the others need no room for it.
indirect enum Boxed<Value> {
    case value(Value)

    var value: Value {
        switch self {
        case .value(let value): value
        }
    }
}

extension Boxed: Sendable where Value: Sendable {}
extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
