/// The sixteen workers whose calls most recently ended badly, for a rule that asks for several workers.
///
/// Workers that have ended keep their cells until others take them; the transaction of a trip asks which of them live.
struct ReporterCells: Sendable {
    static let count = 16
    static let words = Self.count * 2

    let words: SharedWords
    let ticks: WindowTicks

    /// Notes a bad end of a worker, in the worker's cell, in a free cell, or in the cell with the oldest bad end.
    ///
    /// A worker takes a cell over by writing the first word. Until it writes the second word, that word has the former
    /// worker's tag, and the cell counts for no worker: so no worker gets the blame for another worker's failure.
    func note(_ worker: Int64, at tick: UInt64) {
        let id = UInt64(bitPattern: worker)
        for _ in 0..<4 {
            var oldest = (place: 0, id: UInt64(0), age: Int64.min)
            for place in stride(from: 0, to: Self.words, by: 2) {
                let known = self.words[place]
                if known == id { return self.stamp(place, id, tick) }
                let age = self.age(of: place, id: known, at: tick)
                if age > oldest.age { oldest = (place, known, age) }
            }
            if self.words.replace(oldest.id, with: id, at: oldest.place) { return self.stamp(oldest.place, id, tick) }
        }
    }

    /// The workers whose calls ended badly within the window.
    func workers(at tick: UInt64) -> Set<Int64> {
        var workers: Set<Int64> = []
        for place in stride(from: 0, to: Self.words, by: 2) {
            let stamp = TickWord(raw: self.words[place + 1])
            let id = self.words[place]
            guard id != 0, stamp.number == Self.tag(id), self.ticks.contains(stamp, at: tick) else { continue }
            workers.insert(Int64(bitPattern: id))
        }
        return workers
    }

    /// The age in ticks; the greatest number if the cell is free, was taken over just now, or is damaged.
    private func age(of place: Int, id: UInt64, at tick: UInt64) -> Int64 {
        let stamp = TickWord(raw: self.words[place + 1])
        guard id != 0, stamp.number == Self.tag(id), !stamp.isOfTheFuture(tick) else { return .max }
        return stamp.ticksBehind(tick)
    }

    private func stamp(_ place: Int, _ id: UInt64, _ tick: UInt64) {
        self.words[place + 1] = TickWord(tick: tick, number: Self.tag(id)).raw
    }

    private static func tag(_ id: UInt64) -> UInt64 { BoardSegment.mix(id) & TickWord.greatestNumber }
}
