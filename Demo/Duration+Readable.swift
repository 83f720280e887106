extension Duration {
    /// In seconds: whole ones, else with one digit behind the point, or two where it is short.
    var readable: String {
        self.components.attoseconds == 0 ? "\(self.components.seconds) s" : self.measured
    }

    /// In seconds, always with a point.
    var measured: String {
        let (seconds, attoseconds) = self.components
        let hundredths = seconds * 100 + attoseconds / 10_000_000_000_000_000
        guard hundredths >= 100 else { return "0.\(hundredths < 10 ? "0" : "")\(hundredths) s" }
        return "\(hundredths / 100).\(hundredths / 10 % 10) s"
    }
}
