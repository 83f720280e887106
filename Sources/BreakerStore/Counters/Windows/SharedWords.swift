import CBreakerStore

/// Words of 64 bits that other threads and processes change at any time.
///
/// Sendable: the address never changes, and only atomic operations touch the memory there. The owner of the memory
/// keeps it as long as the words are used.
@safe
struct SharedWords: @unchecked Sendable {
    private let base: UnsafeMutablePointer<UInt64>

    init(_ base: UnsafeMutablePointer<UInt64>) { unsafe self.base = base }

    subscript(index: Int) -> UInt64 {
        @inline(__always) get { unsafe bs_load(self.base + index) }
        nonmutating set { unsafe bs_store(self.base + index, newValue) }
    }

    /// A word as a signed number.
    @inline(__always)
    func number(_ index: Int) -> Int64 { Int64(bitPattern: self[index]) }

    /// Adds to a word atomically, sequentially consistent.
    func add(_ count: UInt64, at index: Int) { unsafe bs_add(self.base + index, count) }

    /// Compare-and-swap: replaces a word if it still has the known value; returns whether it did.
    func replace(_ known: UInt64, with value: UInt64, at index: Int) -> Bool {
        unsafe bs_replace(self.base + index, known, value) != 0
    }

    /// Adds to a word with relaxed order: for private lanes, whose reader needs no order.
    func addRelaxed(_ count: UInt64, at index: Int) { unsafe bs_count_relaxed(self.base + index, count) }

    /// Returns the value of a word and leaves zero.
    func drain(_ index: Int) -> UInt64 { unsafe bs_drain(self.base + index) }

    /// The words from an index on.
    func from(_ index: Int) -> SharedWords { unsafe SharedWords(self.base + index) }

    /// Adds one to a word atomically, and returns its new value.
    func increment(_ index: Int) -> UInt64 { unsafe bs_add_one(self.base + index) }

    // MARK: - Bells

    /// The value of the bell in the first four bytes of a word.
    func bell(_ index: Int) -> UInt32 { unsafe self.withBell(index) { unsafe bs_bell($0) } }

    /// Rings the bell: wakes the thread that sleeps on it, in any process.
    func ring(_ index: Int) { _ = unsafe self.withBell(index) { unsafe bs_ring($0) } }

    /// Sleeps on the bell while it has this value, until it is rung or the time is over; returns 0 or an error number.
    ///
    /// See `bs_sleep_on_bell` for the errors.
    func sleep(_ index: Int, while value: UInt32, nanoseconds: Int64) -> Int32 {
        unsafe self.withBell(index) { unsafe bs_sleep_on_bell($0, value, nanoseconds) }
    }

    private func withBell<Result>(_ index: Int, _ body: (UnsafeMutablePointer<UInt32>) -> Result) -> Result {
        unsafe (self.base + index).withMemoryRebound(to: UInt32.self, capacity: 2) { unsafe body($0) }
    }
}
