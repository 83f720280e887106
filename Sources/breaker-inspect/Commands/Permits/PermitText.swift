import BreakerStore

/// A permit as `admit` prints it and `finish` takes it: one word of printable ASCII.
///
/// `permit1.KIND.CIRCUIT.…`: the version first, then all that the report needs, each part behind a full stop. In the
/// circuit's name all bytes but letters, digits, `-` and `_` are written as `%` and two hexadecimal digits. The last
/// part is a checksum of the others: a permit that was cut short is none.
struct PermitText: Hashable {
    var circuit: String
    var ticket: CallTicket
    /// The process for which the call is made.
    var holder: RunningProcess
    /// The process that keeps a probe's slot; nil for other calls.
    var keeper: RunningProcess?

    /// Why a text is no permit.
    struct Malformed: Error, Equatable {
        let problem: String

        init(_ problem: String) { self.problem = problem }
    }

    private static let version = "permit1"
    static let maxLength = 4_096
    private static let parts = 14

    var text: String {
        let (ticket, keeper) = (self.ticket, self.keeper)
        let numbers = [
            ticket.epoch.rawValue, ticket.token, ticket.incarnation, Int64(ticket.boot), ticket.began, ticket.key,
            Int64(self.holder.pid), self.holder.start, Int64(keeper?.pid ?? 0), keeper?.start ?? 0,
        ]
        let words = [Self.version, ticket.source.rawValue, Self.escape(self.circuit)] + numbers.map { String($0) }
        let text = words.joined(separator: ".")
        return "\(text).\(Self.checksum(text))"
    }

    private static func checksum(_ text: String) -> String {
        var fingerprint = Fingerprint()
        fingerprint.add(bytesOf: text)
        return String(fingerprint.value, radix: 16)
    }

    init(circuit: String, ticket: CallTicket, holder: RunningProcess, keeper: RunningProcess? = nil) {
        self.circuit = circuit
        self.ticket = ticket
        self.holder = holder
        self.keeper = keeper
    }

    /// Reads a permit; the text may come from anyone.
    init(_ text: String) throws(Malformed) {
        guard !text.isEmpty else { throw Malformed("it is empty: 'admit' prints none when it refuses") }
        guard text.utf8.count <= Self.maxLength else {
            throw Malformed("it is longer than \(Self.maxLength) characters")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Malformed("it has characters that no permit has")
        }
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let version = words.first, version.hasPrefix("permit") else {
            throw Malformed("it does not begin with '\(Self.version).'")
        }
        guard version == Self.version else { throw Malformed("its version is not known to this release") }
        guard words.count == Self.parts else {
            throw Malformed("it has \(words.count) parts, not \(Self.parts): was it cut short?")
        }
        guard let source = CallTicket.Source(rawValue: String(words[1])) else {
            throw Malformed("its kind \(String(words[1]).quoted) is not known")
        }
        guard let circuit = Self.unescape(words[2]), !circuit.isEmpty, circuit.unicodeScalars.count <= 200 else {
            throw Malformed("its circuit has no valid name")
        }
        var numbers: [Int64] = []
        for word in words[3..<(Self.parts - 1)] {
            // One spelling for each number: nothing before or behind it, and no zeros in front.
            guard let number = Int64(word), String(number) == word else {
                throw Malformed("\(String(word).quoted) is not a number")
            }
            numbers.append(number)
        }
        try self.init(source, circuit, numbers)
        guard self.text == text else { throw Malformed("its checksum is wrong: was it changed or cut short?") }
    }

    /// - Parameter numbers: ten, in the order of the text.
    private init(_ source: CallTicket.Source, _ circuit: String, _ numbers: [Int64]) throws(Malformed) {
        let pids: ClosedRange<Int64> = 1...(1 << 22)
        guard let boot = UInt32(exactly: numbers[3]), numbers[1] >= 0, numbers[4] >= 0, numbers[5] >= 0 else {
            throw Malformed("one of its numbers is out of range")
        }
        let holder = RunningProcess(pid: Int32(truncatingIfNeeded: numbers[6]), start: numbers[7])
        guard pids.contains(numbers[6]), holder.reporter != nil else {
            throw Malformed("its holder is not a process")
        }
        var keeper: RunningProcess?
        if source == .probe {
            keeper = RunningProcess(pid: Int32(truncatingIfNeeded: numbers[8]), start: numbers[9])
            guard pids.contains(numbers[8]), keeper?.reporter != nil else {
                throw Malformed("its keeper is not a process")
            }
        } else if numbers[1] != 0 || numbers[8] != 0 || numbers[9] != 0 {
            throw Malformed("only a probe has a token and a keeper")
        }
        self.init(
            circuit: circuit,
            ticket: CallTicket(
                source: source, epoch: Epoch(numbers[0]), token: numbers[1], incarnation: numbers[2], boot: boot,
                began: numbers[4], key: numbers[5]),
            holder: holder, keeper: keeper)
    }

    // MARK: - Names

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    private static func escape(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if Self.isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [0x25, Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name; nil if the text is no spelling of one.
    private static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte != 0x25 {
                guard Self.isPlain(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Self.digits.firstIndex),
                let low = rest.popFirst().flatMap(Self.digits.firstIndex)
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
