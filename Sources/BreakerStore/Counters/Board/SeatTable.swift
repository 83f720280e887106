/// The seats of a board, as they lie in memory: each has a worker, and the last question that the worker has answered.
///
/// The first cell of the segment is for all workers; the seats follow.
struct SeatTable: Sendable {
    /// How many seats there are.
    static let count = 128
    /// The size of a seat, and of the first cell, in words: one cache line.
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

    /// Whether another board has replaced this board.
    var isMoved: Bool { self.words[Shared.moved] != 0 }

    /// Marks the board as one that another board has replaced, and wakes all workers that have a seat on it.
    func markMoved() {
        self.words[Shared.moved] = 1
        for index in 0..<Self.count where self[index].worker != 0 { self[index].ring() }
    }

    // MARK: - Seats

    subscript(index: Int) -> Seat { Seat(words: self.words.from((1 + index) * Self.wordsOfACell)) }

    /// One seat, which its worker writes; other workers ring its bell.
    struct Seat: Sendable {
        fileprivate let words: SharedWords

        /// The worker's id; 0 if the seat is free.
        var worker: WorkerID { WorkerID(word: self.words[Word.worker]) }

        /// The number of the last question that the worker has answered: all that it counted before that question is on
        /// the board.
        var answered: UInt64 {
            get { self.words[Word.answered] }
            nonmutating set { self.words[Word.answered] = newValue }
        }

        /// A Bloom filter with one hash: the bit `SeatTable.bit` of each circuit with a failure-rate rule that the
        /// worker uses.
        var mask: UInt64 { self.words[Word.mask] }

        func replaceMask(_ known: UInt64, with mask: UInt64) -> Bool {
            self.words.replace(known, with: mask, at: Word.mask)
        }

        /// Gives the seat to a worker, as one that has not answered the last question yet.
        ///
        /// Called under the setup lock. The worker's id is written last: the worker that had the seat before may have
        /// answered questions that this worker has not.
        func give(to worker: WorkerID, asked: UInt64) {
            self.words[Word.worker] = 0
            self.answered = asked &- 1
            self.words[Word.mask] = 0
            self.words[Word.worker] = worker.word
        }

        /// Frees the seat, if it is still this worker's.
        func free(of worker: WorkerID) {
            _ = self.words.replace(worker.word, with: 0, at: Word.worker)
        }

        func ring() { self.words.ring(Word.bell) }

        var bell: UInt32 { self.words.bell(Word.bell) }

        func sleep(while bell: UInt32, nanoseconds: Int64) -> Int32 {
            self.words.sleep(Word.bell, while: bell, nanoseconds: nanoseconds)
        }
    }

    /// The bit of a circuit in the masks: circuits may share a bit, so a worker may be asked about a circuit that it
    /// does not use.
    static func bit(of name: String) -> UInt64 {
        var hash = Fingerprint()
        hash.add(bytesOf: name)
        return 1 << (BoardSegment.mix(hash.value) & 63)
    }
}
