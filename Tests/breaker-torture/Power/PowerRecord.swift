import BreakerTestSupport
import CRecorder

/// One change of the files of a store, or what the program said in between, as the recorder noted it.
struct PowerRecord {
    enum Change {
        case mark(String)
        case create(Int64, name: String)
        case write(Int64, offset: Int, [UInt8])
        case resize(Int64, Int)
        case syncBegin(Int64)
        case syncEnd(Int64)
        case rename(String, to: String)
        case unlink(String)
    }

    /// What stands for the directory among the files.
    static let directory: Int64 = -1

    let change: Change
    let process: Int32
    let thread: Int32
    /// By which the process knows the file; -1 where it names it.
    let descriptor: Int32

    /// How many bytes of records there are by now; 0 if there is no record yet.
    static func length(of path: String) -> Int {
        let header = FileBytes.read(path, atMost: Int(RECORDER_HEADER)) ?? []
        return header.count == Int(RECORDER_HEADER) ? Int(Self.number(header, Int(RECORDER_USED_AT))) : 0
    }

    /// How many bytes of the record this one takes.
    let length: Int

    /// Reads a whole record; throws if it can't be read or is not whole.
    static func all(in path: String) throws -> [PowerRecord] {
        let header = FileBytes.read(path, atMost: Int(RECORDER_HEADER)) ?? []
        guard header.count == Int(RECORDER_HEADER) else { throw SystemError("read \(path)") }
        let end = Int(RECORDER_HEADER) + Int(Self.number(header, Int(RECORDER_USED_AT)))
        guard let bytes = FileBytes.read(path, atMost: end) else { throw SystemError("read \(path)") }
        var records: [PowerRecord] = []
        var place = Int(RECORDER_HEADER)
        while place < end {
            let numbers = (0..<7).map { Self.number(bytes, place + 8 * $0) }
            let next = place + Int(numbers[0])
            guard numbers[0] >= 56, next <= bytes.count, let record = Self(numbers, bytes[(place + 56)..<next]) else {
                throw SystemError("understand \(path)", code: 0)
            }
            records.append(record)
            place = next
        }
        return records
    }

    private init?(_ numbers: [Int64], _ padded: ArraySlice<UInt8>) {
        self.length = Int(numbers[0])
        self.process = Int32(truncatingIfNeeded: numbers[2] >> 32)
        self.thread = Int32(truncatingIfNeeded: numbers[2])
        self.descriptor = Int32(truncatingIfNeeded: numbers[4])
        let (file, offset, count) = (numbers[3], Int(numbers[5]), Int(numbers[6]))
        func text() -> String { String(decoding: padded.prefix { $0 != 0 }, as: UTF8.self) }
        switch recorder_kind(UInt32(numbers[1])) {
        case RECORDER_MARK: self.change = .mark(text())
        case RECORDER_CREATE: self.change = .create(file, name: text())
        case RECORDER_WRITE: self.change = .write(file, offset: offset, Array(padded.prefix(count)))
        case RECORDER_RESIZE: self.change = .resize(file, count)
        case RECORDER_SYNC_BEGIN: self.change = .syncBegin(file)
        case RECORDER_SYNC_END: self.change = .syncEnd(file)
        case RECORDER_RENAME:
            let names = padded.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            guard names.count == 2 else { return nil }
            self.change = .rename(names[0], to: names[1])
        case RECORDER_UNLINK: self.change = .unlink(text())
        default: return nil
        }
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> Int64 {
        var number: UInt64 = 0
        for byte in bytes[place..<place + 8].reversed() { number = number << 8 | UInt64(byte) }
        return Int64(bitPattern: number)
    }
}

extension PowerRecord: CustomStringConvertible {
    var description: String {
        let what =
            switch self.change {
            case .mark(let text): text
            case .create(let file, let name): "create \(name) (\(file))"
            case .write(let file, let offset, let bytes): "write \(bytes.count) bytes at \(offset) of \(file)"
            case .resize(let file, let size): "resize \(file) to \(size)"
            case .syncBegin(let file): "sync \(file) begins"
            case .syncEnd(let file): "sync \(file) ends"
            case .rename(let from, let to): "rename \(from) to \(to)"
            case .unlink(let name): "unlink \(name)"
            }
        return "\(self.process)/\(self.thread) \(what)"
    }
}
