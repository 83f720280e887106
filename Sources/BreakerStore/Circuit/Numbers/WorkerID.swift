/// The number of a worker: of its row, and of the byte of the lock file that it locks.
///
/// Each process of a store is one worker, with a number of its own (`LockFile.workers`). The in-memory fallback has the
/// number 0. A row, or the board, may have any number.
package struct WorkerID: Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: WorkerID, right: WorkerID) -> Bool { left.rawValue < right.rawValue }
}

extension WorkerID {
    /// The number of a process that counts in memory alone.
    static let fallback = WorkerID(0)

    /// The number as a word of shared memory; 0 is no worker's there.
    var word: UInt64 { UInt64(bitPattern: self.rawValue) }

    init(word: UInt64) { self.init(Int64(bitPattern: word)) }

    static func random(in range: Range<WorkerID>) -> WorkerID {
        WorkerID(.random(in: range.lowerBound.rawValue..<range.upperBound.rawValue))
    }
}

extension WorkerID: ExpressibleByIntegerLiteral {
    package init(integerLiteral rawValue: Int64) { self.init(rawValue) }
}

extension WorkerID: CustomStringConvertible {
    package var description: String { "\(self.rawValue)" }
}
