/// The offset of a byte that can be locked, in a lock file; the byte itself need not exist.
struct ByteIndex: Hashable, Comparable, Sendable {
    let rawValue: Int64

    init(_ rawValue: Int64) { self.rawValue = rawValue }

    /// The byte that a worker locks as long as it lives.
    init(of worker: WorkerID) { self.rawValue = worker.rawValue }

    static func < (left: ByteIndex, right: ByteIndex) -> Bool { left.rawValue < right.rawValue }

    func advanced(by count: Int64) -> ByteIndex { ByteIndex(self.rawValue + count) }
}

extension ByteIndex: ExpressibleByIntegerLiteral {
    init(integerLiteral rawValue: Int64) { self.init(rawValue) }
}

extension ByteIndex: CustomStringConvertible {
    var description: String { "\(self.rawValue)" }
}

extension Range<ByteIndex> {
    var count: Int64 { self.upperBound.rawValue - self.lowerBound.rawValue }
}
