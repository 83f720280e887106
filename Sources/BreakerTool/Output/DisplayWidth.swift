extension Character {
    /// How many columns of a terminal the character takes.
    fileprivate var displayWidth: Int {
        guard let scalar = self.unicodeScalars.first else { return 0 }
        if scalar.isASCII { return 1 }
        let isPresentedAsEmoji = self.unicodeScalars.contains {
            $0.value == 0xFE0F || $0.properties.isEmojiPresentation
        }
        if isPresentedAsEmoji { return 2 }
        // The wide blocks of https://www.unicode.org/reports/tr11/.
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0xFEFF:
            return 0
        default:
            return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
        }
    }
}

extension String {
    private static let escape: UInt8 = 0x1B

    /// How many columns of a terminal the text takes.
    package var displayWidth: Int {
        if self.utf8.allSatisfy({ $0 < 0x80 && $0 != Self.escape }) { return self.utf8.count }
        var width = 0
        // A sequence such as ESC[1m, with which `Style` paints, takes none.
        var isInSequence = false
        for character in self {
            if character == "\u{1B}" { isInSequence = true }
            if !isInSequence { width += character.displayWidth }
            if character == "m" { isInSequence = false }
        }
        return width
    }

    /// How many lines of a terminal with this width the text takes; a nil width means unlimited lines.
    package func rows(of width: Int?) -> Int {
        guard let width, width > 0 else { return 1 }
        return max(1, (self.displayWidth + width - 1) / width)
    }

    /// The text, cut to this many columns; a cut text ends with an ellipsis.
    package func cut(to width: Int) -> String {
        guard self.displayWidth > width else { return self }
        var text = ""
        var left = width - 1
        for character in self {
            left -= character.displayWidth
            if left < 0 { break }
            text.append(character)
        }
        return text + "…"
    }

    /// The text, cut in its middle to this many columns, because names that begin alike differ at their ends.
    package func cutInside(to width: Int) -> String {
        guard self.displayWidth > width else { return self }
        var (head, tail) = ("", "")
        var left = width - 1
        // Alternates between a character from the beginning and one from the end, while there is room.
        var rest = self[...]
        while let first = rest.popFirst(), first.displayWidth <= left {
            head.append(first)
            left -= first.displayWidth
            guard let last = rest.popLast(), last.displayWidth <= left else { break }
            tail = String(last) + tail
            left -= last.displayWidth
        }
        return "\(head)…\(tail)"
    }
}
