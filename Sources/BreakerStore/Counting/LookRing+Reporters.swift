/// A ring keeps the sixteen workers whose calls ended badly most recently.
extension LookRing {
    /// A worker, and the uptime of its last bad end.
    struct Reporter: Equatable, Sendable {
        var worker: Int64
        var uptime: Int64
    }

    static let reporterCount = 16
    /// The lowest bits of a cell's second word are the tag; the rest is the uptime, enough for 142 years.
    private static let tagBits: UInt64 = 12

    /// Notes a bad end of a worker, in the worker's cell, a free one or the one whose worker ended badly longest ago.
    ///
    /// A worker takes a cell over by writing the first word. Until it writes the second, that word has the tag of the
    /// worker before, and the cell counts for no worker: none is said to have failed when another one did.
    func note(reporter worker: Int64, at uptime: Int64) {
        let id = UInt64(bitPattern: worker)
        for _ in 0..<4 {
            var oldest = (place: Place.reporters, id: UInt64(0), uptime: UInt64.max)
            for cell in 0..<Self.reporterCount {
                let place = Place.reporters + cell * 2
                let known = self.words[place]
                if known == id { return self.stamp(place, id, uptime) }
                let stamp = self.words[place + 1]
                let age = known == 0 || !Self.isOf(known, stamp) ? 0 : stamp >> Self.tagBits
                if age < oldest.uptime { oldest = (place, known, age) }
            }
            if self.words.replace(oldest.id, with: id, at: oldest.place) {
                return self.stamp(oldest.place, id, uptime)
            }
        }
    }

    /// The workers whose calls ended badly at this uptime or later, each once.
    func reporters(since start: Int64) -> [Reporter] {
        var reporters: [Reporter] = []
        for cell in 0..<Self.reporterCount {
            let place = Place.reporters + cell * 2
            let stamp = self.words[place + 1]
            let id = self.words[place]
            let uptime = Int64(stamp >> Self.tagBits)
            guard id != 0, Self.isOf(id, stamp), uptime >= start else { continue }
            let worker = Int64(bitPattern: id)
            // Two threads of one worker may have taken a cell each.
            if let known = reporters.firstIndex(where: { $0.worker == worker }) {
                reporters[known].uptime = max(reporters[known].uptime, uptime)
            } else {
                reporters.append(Reporter(worker: worker, uptime: uptime))
            }
        }
        return reporters
    }

    private func stamp(_ place: Int, _ id: UInt64, _ uptime: Int64) {
        let stamp = UInt64(bitPattern: uptime) << Self.tagBits | Self.tag(id)
        let known = self.words[place + 1]
        // Another thread of this worker may have come later, and been faster.
        if !Self.isOf(id, known) || known < stamp { self.words[place + 1] = stamp }
    }

    private static func tag(_ id: UInt64) -> UInt64 { (id &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.tagBits) }

    private static func isOf(_ id: UInt64, _ stamp: UInt64) -> Bool {
        stamp & ((1 << Self.tagBits) - 1) == Self.tag(id)
    }
}
