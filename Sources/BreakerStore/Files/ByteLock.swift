import CBreakerStore

/// Locks on single bytes of a file, held by an open file description.
enum ByteLock {
    static func set(_ descriptor: Int32, _ offset: Int64, _ locked: Bool) -> Bool {
        bs_set_lock(descriptor, offset, locked ? 1 : 0) == 0
    }

    /// Whether another open file description has a lock on one of these bytes.
    static func isAnyHeldByAnother(_ descriptor: Int32, _ offsets: Range<Int64>) -> Bool {
        bs_is_any_locked(descriptor, offsets.lowerBound, offsets.upperBound - offsets.lowerBound) != 0
    }

    static func isHeldByAnother(_ descriptor: Int32, _ offset: Int64) -> Bool {
        bs_is_locked(descriptor, offset) != 0
    }
}
