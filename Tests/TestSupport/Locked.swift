import Foundation

/// A value behind a lock that the thread sanitizer knows: contended, the standard library's own is reported as a race.
///
/// Sendable: the value is touched under the lock alone.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        self.lock.lock()
        defer { self.lock.unlock() }
        return try body(&self.value)
    }
}
