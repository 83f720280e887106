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
}
