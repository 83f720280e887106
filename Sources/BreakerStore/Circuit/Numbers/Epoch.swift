/// The number of a circuit's state: an outcome of a call from another epoch than the circuit's is late.
///
/// Rises with each change of state, hold or reset, and is at least the store time at which it began. So it also rises
/// over circuits that were forgotten. The in-memory fallback has epochs of its own. 0 is before all epochs.
package struct Epoch: Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
}

extension Epoch {
    /// The first epoch of a circuit that was created at `time`.
    init(at time: StoreTime) { self.init(time.microseconds) }

    /// The next epoch, which begins at `time`.
    func next(at time: StoreTime) -> Epoch { max(self.adding(1), Epoch(at: time)) }

    /// The store time at which the epoch began, or a later one.
    var latestStart: StoreTime { StoreTime(microseconds: self.rawValue) }

    func adding(_ number: Int64) -> Epoch { Epoch(self.rawValue.addingSaturating(number)) }
}

extension Epoch: ExpressibleByIntegerLiteral {
    package init(integerLiteral rawValue: Int64) { self.init(rawValue) }
}

extension Epoch: CustomStringConvertible {
    package var description: String { "\(self.rawValue)" }
}
