/// The sixteen workers whose calls failed, or were slow, most recently: for a rule that asks for several reporters.
///
/// A cell is two words: the worker's id; and a `TickWord` of the worker's last bad call, whose number is the tag, a
/// hash of the id. A dead worker keeps its cell until another worker takes the cell over; the transaction of a trip
/// asks which workers live.
struct ReporterCells: Sendable {
    static let count = 16
    static let words = Self.count * 2

    let words: SharedWords
    let ticks: WindowTicks

    /// Records a bad call of a worker: in the worker's cell, in a free cell, or in the cell with the oldest bad call.
    ///
    /// A worker takes a cell over by writing the first word. Until it writes the second word, that word has the former
    /// worker's tag, and the cell counts for no worker: so no worker is blamed for another worker's failure.
    ///
    /// If other workers take the cells first in all of four tries, the worker has no cell until its next bad call; the
    /// call counts in the ring all the same.
    func record(_ worker: WorkerID, at tick: UInt64) {
        let id = worker.word
        for _ in 0..<4 {
            var oldest = (index: 0, id: UInt64(0), age: Int64.min)
            for index in stride(from: 0, to: Self.words, by: 2) {
                let known = self.words[index]
                if known == id { return self.writeStamp(at: index, id, tick) }
                let age = self.age(at: index, id: known, at: tick)
                if age > oldest.age { oldest = (index, known, age) }
            }
            if self.words.replace(oldest.id, with: id, at: oldest.index) {
                return self.writeStamp(at: oldest.index, id, tick)
            }
        }
    }

    /// The workers that had bad calls within the window.
    func workers(at tick: UInt64) -> Set<WorkerID> {
        var workers: Set<WorkerID> = []
        for index in stride(from: 0, to: Self.words, by: 2) {
            let stamp = TickWord(raw: self.words[index + 1])
            let id = self.words[index]
            guard id != 0, stamp.number == Self.tag(id), self.ticks.contains(stamp, at: tick) else { continue }
            workers.insert(WorkerID(word: id))
        }
        return workers
    }

    /// The age in ticks; the greatest number if the cell is free, is being taken over, or is damaged.
    private func age(at index: Int, id: UInt64, at tick: UInt64) -> Int64 {
        let stamp = TickWord(raw: self.words[index + 1])
        guard id != 0, stamp.number == Self.tag(id), !stamp.isTooFarAhead(of: tick) else { return .max }
        return stamp.ticks(behind: tick)
    }

    private func writeStamp(at index: Int, _ id: UInt64, _ tick: UInt64) {
        self.words[index + 1] = TickWord(tick: tick, number: Self.tag(id)).raw
    }

    private static func tag(_ id: UInt64) -> UInt64 { BoardSegment.mix(id) & TickWord.greatestNumber }
}
