import CBreakerStore

/// Words of 64 bits that other threads and processes change meanwhile.
///
/// Sendable: the address never changes, and what lies there is touched by atomic operations alone. Whoever hands one
/// out keeps the memory for as long as it is used.
@safe
struct SharedWords: @unchecked Sendable {
    private let base: UnsafeMutablePointer<UInt64>

    init(_ base: UnsafeMutablePointer<UInt64>) { unsafe self.base = base }

    subscript(place: Int) -> UInt64 {
        @inline(__always) get { unsafe bs_load(self.base + place) }
        nonmutating set { unsafe bs_store(self.base + place, newValue) }
    }

    /// A word that stands for a number with a sign.
    @inline(__always)
    func number(_ place: Int) -> Int64 { Int64(bitPattern: self[place]) }

    /// Adds, in one order that all processes see.
    func add(_ count: UInt64, at place: Int) { unsafe bs_add(self.base + place, count) }

    /// Replaces a word if it is still what was known of it.
    func replace(_ known: UInt64, with value: UInt64, at place: Int) -> Bool {
        unsafe bs_replace(self.base + place, known, value) != 0
    }

    /// Adds without any order towards other words.
    func addRelaxed(_ count: UInt64, at place: Int) { unsafe bs_count_relaxed(self.base + place, count) }

    /// Takes what is in a word and leaves zero.
    func take(_ place: Int) -> UInt64 { unsafe bs_take(self.base + place) }

    /// The words from a place on.
    func from(_ place: Int) -> SharedWords { unsafe SharedWords(self.base + place) }
}
