/// What is told of a circuit, as one number of a log.
extension HistoryCircuit.Look {
    private static let step: Int64 = 10_000

    var packed: Int64 {
        [self.failures, self.probes, self.trips].reduce(self.word?.rawValue ?? 0) {
            $0 * Self.step + min(Int64($1), Self.step - 1)
        }
    }

    init(packed: Int64) {
        let (trips, rest) = (packed % Self.step, packed / Self.step)
        self.init(
            word: Word(rawValue: rest / Self.step / Self.step), failures: Int(rest / Self.step % Self.step),
            probes: Int(rest % Self.step), trips: Int(trips))
    }
}
