/// Words in this process's memory: a circuit's private cells, or a copy of cells of the board.
///
/// A child of `fork` counts in its own copy.
///
/// Sendable: the address never changes, and only atomic operations touch the memory there.
@safe
final class PrivateCells: @unchecked Sendable {
    private let base: UnsafeMutablePointer<UInt64>
    private let count: Int

    init(words count: Int) {
        unsafe self.base = .allocate(capacity: count)
        unsafe self.base.initialize(repeating: 0, count: count)
        self.count = count
    }

    init(copying words: [UInt64]) {
        unsafe self.base = .allocate(capacity: words.count)
        unsafe self.base.initialize(from: words, count: words.count)
        self.count = words.count
    }

    deinit { unsafe self.base.deallocate() }

    func words(from index: Int) -> SharedWords {
        precondition((0..<self.count).contains(index))
        return unsafe SharedWords(self.base + index)
    }
}
