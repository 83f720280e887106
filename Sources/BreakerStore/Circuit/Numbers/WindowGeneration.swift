/// The number that selects the buckets of a circuit's rolling windows: buckets of an earlier one are out of the window.
///
/// Rises by one with each new epoch of the circuit, so that a transition empties the windows. 1 is the first.
struct WindowGeneration: Hashable, Comparable, Sendable {
    let rawValue: Int64

    init(_ rawValue: Int64) { self.rawValue = rawValue }

    static func < (left: WindowGeneration, right: WindowGeneration) -> Bool { left.rawValue < right.rawValue }

    static let first = WindowGeneration(1)

    var next: WindowGeneration { WindowGeneration(self.rawValue.addingSaturating(1)) }
}

extension WindowGeneration: ExpressibleByIntegerLiteral {
    init(integerLiteral rawValue: Int64) { self.init(rawValue) }
}

extension WindowGeneration: CustomStringConvertible {
    var description: String { "\(self.rawValue)" }
}
