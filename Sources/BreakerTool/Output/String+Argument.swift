import BreakerStore

extension String {
    /// The name of a circuit as an argument of a command that a person may copy; `NAME` if a shell would not take it.
    package var asArgument: String {
        guard self.escaped == self, let first = self.first, first != "-" else { return "NAME" }
        let isPlain = self.unicodeScalars.allSatisfy { scalar in
            !scalar.isASCII || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "-_./:@+,".unicodeScalars.contains(scalar)
        }
        if isPlain { return self }
        // The command itself stands between single quotes.
        return self.contains { "\"'$`\\!".contains($0) } ? "NAME" : "\"\(self)\""
    }
}
