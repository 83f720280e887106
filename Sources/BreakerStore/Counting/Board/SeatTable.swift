/// The seats of a board, as they lie in memory: which workers answer questions, and how far each has answered.
///
/// The first cell of the segment is for all workers; the seats follow.
struct SeatTable: Sendable {
    /// How many workers have a seat at most.
    static let count = 128
    /// The size of a seat, and of the first cell, in words: one line of the cache.
    static let wordsOfACell = 8

    private enum Shared {
        static let asked = 0
        static let moved = 1
    }

    private enum Word {
        static let worker = 0
        static let answered = 1
        static let bell = 2
        static let mask = 3
    }

    let words: SharedWords

    // MARK: - For all workers

    /// The number of the last question that was asked.
    var asked: UInt64 { self.words[Shared.asked] }

    /// Asks a question; returns its number.
    func ask() -> UInt64 { self.words.increment(Shared.asked) }

    /// Whether another board has taken this board's place.
    var isMoved: Bool { self.words[Shared.moved] != 0 }

    /// Marks the board as one that another board has replaced, and wakes all workers that have a seat on it.
    func markMoved() {
        self.words[Shared.moved] = 1
        for place in 0..<Self.count where self[place].worker != 0 { self[place].ring() }
    }

    // MARK: - Seats

    subscript(place: Int) -> Seat { Seat(words: self.words.from((1 + place) * Self.wordsOfACell)) }

    /// One seat: its worker writes it, and other workers ring its bell.
    struct Seat: Sendable {
        fileprivate let words: SharedWords

        /// The worker's id; 0 if the seat is free.
        var worker: Int64 { self.words.number(Word.worker) }

        /// The number of the last question that the worker has answered: what it counted before is on the board.
        var answered: UInt64 {
            get { self.words[Word.answered] }
            nonmutating set { self.words[Word.answered] = newValue }
        }

        /// For each circuit with a failure-rate rule that the worker uses, the bit `SeatTable.bit` is set.
        var mask: UInt64 { self.words[Word.mask] }

        func replaceMask(_ known: UInt64, with mask: UInt64) -> Bool {
            self.words.replace(known, with: mask, at: Word.mask)
        }

        /// Gives the seat to a worker, which has answered no question yet that others may ask now.
        ///
        /// Called under the setup lock. The worker's id is written last: the worker that had the seat before may have
        /// answered questions that this worker has not.
        func give(to worker: Int64, asked: UInt64) {
            self.words[Word.worker] = 0
            self.answered = asked &- 1
            self.words[Word.mask] = 0
            self.words[Word.worker] = UInt64(bitPattern: worker)
        }

        /// Frees the seat, if it is still this worker's.
        func free(of worker: Int64) {
            _ = self.words.replace(UInt64(bitPattern: worker), with: 0, at: Word.worker)
        }

        func ring() { self.words.ring(Word.bell) }

        var bell: UInt32 { self.words.bell(Word.bell) }

        func sleep(while bell: UInt32, nanoseconds: Int64) -> Int32 {
            self.words.sleep(Word.bell, while: bell, nanoseconds: nanoseconds)
        }
    }

    /// The bit of a circuit in the masks: circuits may share a bit, so a worker may be asked in vain.
    static func bit(of name: String) -> UInt64 {
        var hash = Fingerprint()
        hash.add(bytesOf: name)
        return 1 << (BoardSegment.mix(hash.value) & 63)
    }
}
