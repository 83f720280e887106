extension String {
    /// With as many spaces after it as a column needs.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - self.count)) }
}
