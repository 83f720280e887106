extension Unicode.Scalar {
    /// Whether this scalar steers a terminal or breaks a line: a control character, or the line or paragraph separator.
    var isControl: Bool {
        let category = self.properties.generalCategory
        return category == .control || category == .lineSeparator || category == .paragraphSeparator
    }
}

extension String {
    /// This text on one line: control characters are spelled out.
    package var escaped: String {
        guard self.unicodeScalars.contains(where: \.isControl) else { return self }
        return self.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isControl {
                text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// This text between quotes, on one line.
    package var quoted: String { "'\(self.escaped)'" }
}
