extension BinaryInteger {
    /// This many of something, such as `1 failure` and `2 failures`.
    package func counted(_ what: String) -> String { self == 1 ? "1 \(what)" : "\(self) \(what)s" }
}
