#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// What a worker says through its pipe: numbers, written in one piece, so that a kill leaves all or nothing of
    /// them.
    struct Note {
        enum Mark: Int64 {
            /// The store is open; `number` is the worker's id, `what` the number of SQLite's version.
            case opened
            /// A call begins: `number`, what it is, and its `detail`.
            case began
            /// It has returned: `what` is 1 if the store was healthy then, `detail` says how it ended.
            case done
            /// It kills itself: `what` is the place.
            case dying
            /// Something that must not be; a line of text follows, `number` bytes long.
            case complaint
        }

        static let size = 5 * MemoryLayout<Int64>.size

        var mark: Mark
        var number: Int64
        var what: Int64 = 0
        var detail: Int64 = 0
        var time = KillLoop.uptime

        init(_ mark: Mark, _ number: Int64, what: Int64 = 0, detail: Int64 = 0) {
            self.mark = mark
            self.number = number
            self.what = what
            self.detail = detail
        }

        init?(_ words: [Int64]) {
            guard words.count == 5, let mark = Mark(rawValue: words[0]) else { return nil }
            self.init(mark, words[1], what: words[2], detail: words[3])
            self.time = words[4]
        }

        /// The note, and the text behind it.
        func write(to descriptor: Int32, _ text: [UInt8] = []) {
            let words = [self.mark.rawValue, self.number, self.what, self.detail, self.time]
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Self.size + text.count)
            for word in words {
                for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
            }
            bytes += text
            _ = unsafe Self.write(descriptor, bytes, bytes.count)
        }

        // The type's own `write` hides the C function.
        private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
            unsafe writeBytes(descriptor, bytes, count)
        }
    }

    /// Puts the notes of one worker together again.
    struct Listener {
        private var bytes: [UInt8] = []

        mutating func hear(_ more: ArraySlice<UInt8>) { self.bytes += more }

        /// The next whole note, and the text behind it.
        mutating func next() -> (Note, String)? {
            guard self.bytes.count >= Note.size else { return nil }
            var words = [Int64](repeating: 0, count: 5)
            for index in 0..<Note.size {
                words[index / 8] |= Int64(bitPattern: UInt64(self.bytes[index]) << UInt64(index % 8 * 8))
            }
            guard let note = Note(words) else { return nil }
            let length = note.mark == .complaint ? Int(note.number) : 0
            guard self.bytes.count >= Note.size + length else { return nil }
            let text = String(decoding: self.bytes[Note.size..<Note.size + length], as: UTF8.self)
            self.bytes.removeFirst(Note.size + length)
            return (note, text)
        }
    }
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
