import CBreakerStore

/// Locks on bytes of a file, held by an open file description (`F_OFD_SETLK`).
enum ByteLock {
    /// Locks bytes without waiting; false if another open file description has one of them.
    static func lock(_ descriptor: Int32, at index: ByteIndex, count: Int64 = 1) -> Bool {
        bs_set_lock(descriptor, index.rawValue, count, 1) == 0
    }

    static func unlock(_ descriptor: Int32, at index: ByteIndex, count: Int64 = 1) {
        bs_set_lock(descriptor, index.rawValue, count, 0)
    }

    /// Whether another open file description has a lock on one of these bytes.
    static func isAnyHeldByAnother(_ descriptor: Int32, _ bytes: Range<ByteIndex>) -> Bool {
        bs_is_any_locked(descriptor, bytes.lowerBound.rawValue, bytes.count) != 0
    }

    static func isHeldByAnother(_ descriptor: Int32, _ index: ByteIndex) -> Bool {
        bs_is_any_locked(descriptor, index.rawValue, 1) != 0
    }

    /// The locks that other open file descriptions have on these bytes, in no order; at most `limit` of them.
    ///
    /// The kernel returns one lock that overlaps a range, so the parts before and behind that lock are searched next.
    static func heldByOthers(_ descriptor: Int32, _ bytes: Range<ByteIndex>, atMost limit: Int) -> [Range<ByteIndex>] {
        var found: [Range<ByteIndex>] = []
        var unsearched = [bytes]
        while found.count < limit, let range = unsearched.popLast() {
            var (start, count) = (range.lowerBound.rawValue, range.count)
            guard count > 0, unsafe bs_find_lock(descriptor, &start, &count) == 1 else { continue }
            let (sum, overflow) = start.addingReportingOverflow(count)
            let lock = ByteIndex(start)..<ByteIndex(count <= 0 || overflow ? .max : max(start, sum))
            let held = lock.clamped(to: range)
            // The kernel has returned a lock outside the range: no part would be smaller, so the loop might not end.
            guard !held.isEmpty else { continue }
            found.append(lock)
            unsearched += [range.lowerBound..<held.lowerBound, held.upperBound..<range.upperBound]
        }
        return found
    }
}
