import BreakerStoreJSON

extension Duration {
    /// The duration for a narrow column: in whole units, and at least 0.
    ///
    /// - Parameter roundsUp: whether to round up, as for a time in the future.
    package func brief(roundsUp: Bool = false) -> String {
        let milliseconds = max(0, self.wholeMilliseconds)
        let (length, word): (Int64, String) =
            switch milliseconds {
            case ..<120_000: (1_000, "s")
            case ..<7_200_000: (60_000, "min")
            case ..<172_800_000: (3_600_000, "h")
            default: (86_400_000, "d")
            }
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: length)
        return "\(roundsUp && rest > 0 ? whole + 1 : whole) \(word)"
    }
}
