import CBenchmarks

/// Measurements in turn: a machine that is slow for a while is slow for all of them.
struct Rounds {
    private var samples: [[Double]]
    private let best: Bool

    /// Runs all of `measurements`, one after the other, `count` times; one more at the start is thrown away.
    static func run(
        _ count: Int, _ effort: Effort, _ measurements: [() async throws -> Double]
    ) async throws -> Rounds {
        var rounds = Rounds(samples: Array(repeating: [], count: measurements.count), best: effort.best)
        for round in 0...count {
            for (index, measurement) in measurements.enumerated() {
                let value = try await measurement()
                if round > 0 { rounds.samples[index].append(value) }
            }
        }
        return rounds
    }

    /// The median of what one of the measurements yielded, or the least where that is asked for.
    subscript(_ index: Int) -> Double {
        let sorted = self.samples[index].sorted()
        return sorted.isEmpty ? .nan : sorted[self.best ? 0 : sorted.count / 2]
    }
}

/// Time since some instant, in nanoseconds.
struct Stopwatch {
    private let start = bb_nanoseconds()

    var nanoseconds: Double { Double(bb_nanoseconds() - self.start) }
}

/// A figure could not be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
