extension BinaryInteger {
    /// The number with a noun in the singular or plural, such as `1 failure` and `2 failures`.
    package func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}
