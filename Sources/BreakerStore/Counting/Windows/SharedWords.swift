import CBreakerStore

/// Words of 64 bits that other threads and processes change meanwhile.
///
/// Sendable: the address never changes, and only atomic operations touch the memory there. The owner of the memory
/// keeps it as long as the words are used.
@safe
struct SharedWords: @unchecked Sendable {
    private let base: UnsafeMutablePointer<UInt64>

    init(_ base: UnsafeMutablePointer<UInt64>) { unsafe self.base = base }

    subscript(place: Int) -> UInt64 {
        @inline(__always) get { unsafe bs_load(self.base + place) }
        nonmutating set { unsafe bs_store(self.base + place, newValue) }
    }

    /// A word as a number with a sign.
    @inline(__always)
    func number(_ place: Int) -> Int64 { Int64(bitPattern: self[place]) }

    /// Adds to a word atomically, sequentially consistent.
    func add(_ count: UInt64, at place: Int) { unsafe bs_add(self.base + place, count) }

    /// Replaces a word if it still has the known value.
    func replace(_ known: UInt64, with value: UInt64, at place: Int) -> Bool {
        unsafe bs_replace(self.base + place, known, value) != 0
    }

    /// Adds to a word atomically, relaxed.
    func addRelaxed(_ count: UInt64, at place: Int) { unsafe bs_count_relaxed(self.base + place, count) }

    /// Returns the value of a word and leaves zero.
    func take(_ place: Int) -> UInt64 { unsafe bs_take(self.base + place) }

    /// The words from a place on.
    func from(_ place: Int) -> SharedWords { unsafe SharedWords(self.base + place) }

    /// Adds one to a word atomically, and returns its new value.
    func increment(_ place: Int) -> UInt64 { unsafe bs_add_one(self.base + place) }

    // MARK: - Bells

    /// The value of the bell in the first four bytes of a word.
    func bell(_ place: Int) -> UInt32 { unsafe self.withBell(place) { unsafe bs_bell($0) } }

    /// Rings the bell: wakes the thread that sleeps on it, of whatever process.
    func ring(_ place: Int) { _ = unsafe self.withBell(place) { unsafe bs_ring($0) } }

    /// Sleeps until the bell is rung, or for so many nanoseconds, as long as the bell has this value; returns 0, or the
    /// error of a system on which nobody can sleep there.
    func sleep(_ place: Int, while value: UInt32, nanoseconds: Int64) -> Int32 {
        unsafe self.withBell(place) { unsafe bs_sleep_on_bell($0, value, nanoseconds) }
    }

    private func withBell<Result>(_ place: Int, _ body: (UnsafeMutablePointer<UInt32>) -> Result) -> Result {
        unsafe (self.base + place).withMemoryRebound(to: UInt32.self, capacity: 2) { unsafe body($0) }
    }
}
