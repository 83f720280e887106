import BreakerStore

/// A permit as `admit` prints it and `finish` takes it: one word of printable ASCII.
///
/// Its parts have full stops between them:
///
///     permit1.KIND.CIRCUIT.EPOCH.TOKEN.INCARNATION.BOOT.BEGAN.REPORTKEY.HOLDER.HOLDERSTART.KEEPER.KEEPERSTART.CHECKSUM
///
/// In the circuit's name all bytes but letters, digits, `-` and `_` are written as `%` and two hexadecimal digits. The
/// checksum is an FNV-1a hash of all before it: a permit that was cut short is none.
struct PermitText: Hashable {
    var circuit: String
    var permit: PortablePermit
    /// The process for which the call is made.
    var holder: RunningProcess
    /// The process that keeps a probe's slot; nil for other calls.
    var keeper: RunningProcess?

    /// Why a text is no permit.
    struct Malformed: Error, Equatable {
        let problem: String

        init(_ problem: String) { self.problem = problem }
    }

    /// The numbers, in the order of the text.
    private enum Field: Int, CaseIterable {
        case epoch, token, incarnation, boot, began, reportKey, holder, holderStart, keeper, keeperStart
    }

    private static let version = "permit1"
    static let maxLength = 4_096
    /// The version, the kind and the circuit, then the numbers, and the checksum.
    private static let partCount = 3 + Field.allCases.count + 1

    var text: String {
        let words = [Self.version, self.permit.source.rawValue, Self.percentEncode(self.circuit)]
        let text = (words + Field.allCases.map { String(self.number($0)) }).joined(separator: ".")
        return "\(text).\(Self.checksum(of: text))"
    }

    private func number(_ field: Field) -> Int64 {
        switch field {
        case .epoch: self.permit.epoch.rawValue
        case .token: self.permit.token
        case .incarnation: self.permit.incarnation
        case .boot: Int64(self.permit.boot)
        case .began: self.permit.began
        case .reportKey: self.permit.reportKey
        case .holder: Int64(self.holder.pid)
        case .holderStart: self.holder.start
        case .keeper: Int64(self.keeper?.pid ?? 0)
        case .keeperStart: self.keeper?.start ?? 0
        }
    }

    private static func checksum(of text: String) -> String {
        var fingerprint = Fingerprint()
        fingerprint.add(bytesOf: text)
        return String(fingerprint.value, radix: 16)
    }

    init(circuit: String, permit: PortablePermit, holder: RunningProcess, keeper: RunningProcess? = nil) {
        self.circuit = circuit
        self.permit = permit
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
        guard words.count == Self.partCount else {
            throw Malformed("it has \(words.count) parts, not \(Self.partCount): was it cut short?")
        }
        guard let kind = PortablePermit.Source(rawValue: String(words[1])) else {
            throw Malformed("its kind \(String(words[1]).quoted) is not known")
        }
        guard let circuit = Self.percentDecode(words[2]), CircuitName.lengths.contains(circuit.unicodeScalars.count)
        else { throw Malformed("its circuit has no valid name") }
        var numbers: [Int64] = []
        for word in words[3..<(Self.partCount - 1)] {
            // One spelling for each number: nothing before or behind it, and no zeros in front.
            guard let number = Int64(word), String(number) == word else {
                throw Malformed("\(String(word).quoted) is not a number")
            }
            numbers.append(number)
        }
        try self.init(kind: kind, circuit: circuit, numbers: numbers)
        guard self.text == text else { throw Malformed("its checksum is wrong: was it changed or cut short?") }
    }

    /// - Parameter numbers: one for each `Field`, in the order of the text.
    private init(kind: PortablePermit.Source, circuit: String, numbers: [Int64]) throws(Malformed) {
        func number(_ field: Field) -> Int64 { numbers[field.rawValue] }
        func process(_ pid: Field, startedAt start: Field) -> RunningProcess? {
            guard let pid = Int32(exactly: number(pid)) else { return nil }
            let process = RunningProcess(pid: pid, start: number(start))
            return process.reporter == nil ? nil : process
        }
        guard let boot = UInt32(exactly: number(.boot)), number(.token) >= 0, number(.began) >= 0,
            number(.reportKey) >= 0
        else { throw Malformed("one of its numbers is out of range") }
        guard let holder = process(.holder, startedAt: .holderStart) else {
            throw Malformed("its holder is not a process")
        }
        var keeper: RunningProcess?
        if kind == .probe {
            keeper = process(.keeper, startedAt: .keeperStart)
            guard keeper != nil else { throw Malformed("its keeper is not a process") }
        } else if number(.token) != 0 || number(.keeper) != 0 || number(.keeperStart) != 0 {
            throw Malformed("only a probe has a token and a keeper")
        }
        self.init(
            circuit: circuit,
            permit: PortablePermit(
                source: kind, epoch: Epoch(number(.epoch)), token: number(.token), incarnation: number(.incarnation),
                boot: boot, began: number(.began), reportKey: number(.reportKey)),
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

    private static func percentEncode(_ name: String) -> String {
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
    private static func percentDecode(_ text: Substring) -> String? {
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
