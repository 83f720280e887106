extension Duration {
    /// This duration for people, such as `12.3 s`: one unit, at most one decimal.
    package var readable: String {
        let microsecond: UInt128 = 1_000_000_000_000
        let millisecond = microsecond * 1_000
        let second = millisecond * 1_000
        let minute = second * 60
        let hour = minute * 60
        let magnitude = self.attoseconds.magnitude
        let (unit, label): (UInt128, String) =
            if magnitude == 0 {
                (second, "s")
            } else if magnitude < millisecond {
                (microsecond, "µs")
            } else if magnitude < second {
                (millisecond, "ms")
            } else if magnitude < minute * 2 {
                (second, "s")
            } else if magnitude < hour * 2 {
                (minute, "min")
            } else if magnitude < hour * 48 {
                (hour, "h")
            } else {
                (hour * 24, "d")
            }
        // Divided before it is multiplied, so that the longest duration doesn't overflow.
        let (whole, rest) = magnitude.quotientAndRemainder(dividingBy: unit)
        let tenths = whole * 10 + (rest * 10 + unit / 2) / unit
        let (integer, decimal) = tenths.quotientAndRemainder(dividingBy: 10)
        let sign = self < .zero ? "-" : ""
        return decimal == 0 ? "\(sign)\(integer) \(label)" : "\(sign)\(integer).\(decimal) \(label)"
    }
}
