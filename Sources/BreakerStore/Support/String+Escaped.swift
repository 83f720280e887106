extension Unicode.Scalar {
    /// Whether this scalar controls a terminal or breaks a line: a control character, or the line or paragraph
    /// separator.
    var isControl: Bool {
        // Most text is ASCII, and the table of properties is slow.
        if self.isASCII { return self.value < 0x20 || self.value == 0x7F }
        let category = self.properties.generalCategory
        return category == .control || category == .lineSeparator || category == .paragraphSeparator
    }
}

extension Unicode.Scalar {
    /// Whether this scalar makes text look different from what it is: a control character, or an invisible scalar that
    /// changes the direction of the text around it, or joins or separates it.
    package var isDeceptive: Bool {
        self.isControl || !self.isASCII && self.properties.generalCategory == .format
    }
}

extension String {
    /// This text on one line, with control and format characters spelled out.
    package var escaped: String {
        guard self.unicodeScalars.contains(where: \.isDeceptive) else { return self }
        return self.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isDeceptive {
                text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// This text between quotes, on one line.
    package var quoted: String { "'\(self.escaped)'" }
}
