/// One JSON object of the rules' text, for a pass that either reads its members or writes over them.
///
/// The same pass serves both directions: it names each member that this release knows. Members that it doesn't name are
/// unknown, and stay.
struct RulesObject {
    private let isWriting: Bool
    /// The object's key in the outermost object; nil for the outermost.
    private var key: StaticString?
    /// The members of the text, without those that the pass has named.
    private var rest: [ScannedMember] = []
    /// The members that the pass has written.
    private var written: [(key: ArraySlice<UInt8>, text: String)] = []

    /// The paths of the members that this release doesn't know, with those of the objects inside this one: for a whole
    /// text in the order of their bytes.
    private(set) var unknown: [String] = []
    /// A member or rule of a later release that this one must not ignore, described for people.
    private(set) var later: String?
    /// The first reason why the text can't be read, for people.
    private(set) var complaint: String?
}

extension RulesObject {
    init(_ text: [UInt8], isWriting: Bool, pass: (inout RulesObject) -> Void) {
        self.init(isWriting: isWriting)
        do throws(JSONTextError) {
            let value = try JSONScanner.value(of: text)
            self.rest = value.members ?? []
            if value.members == nil { self.complaint = "the rules are \(value.description); expected an object" }
        } catch {
            self.complaint = error.description
        }
        self.perform(pass)
        // By bytes: to Swift's own order of strings different bytes may be equal.
        self.unknown.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private mutating func perform(_ pass: (inout RulesObject) -> Void) {
        pass(&self)
        guard !self.isWriting else { return }
        // In reverse: of several members that must not be ignored `later` names the first.
        for member in self.rest.reversed() {
            let path = self.path(of: member.name)
            self.unknown.append(path)
            if member.key.first == UInt8(ascii: "!") { self.later = "the member \(StoredText.cut(path).quoted)" }
        }
    }

    /// What the pass has written, and the members that it has not named, in the order of their keys' bytes.
    var text: String {
        var members = self.written
        for member in self.rest {
            let key = String(decoding: member.keyText, as: UTF8.self)
            members.append((member.key, key + ":" + String(decoding: member.value.text, as: UTF8.self)))
        }
        // Not by `joined`, for which the runtime would search all loaded libraries for conformances.
        var text = "{"
        for member in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if text.utf8.count > 1 { text += "," }
            text += member.text
        }
        return text + "}"
    }

    // MARK: - Members

    mutating func object(
        _ key: StaticString, isRequired: Bool = false, isWritten: Bool = true, pass: (inout RulesObject) -> Void
    ) {
        let value = self.removeMember(key, isRequired: isRequired)
        guard self.isWriting ? isWritten : value != nil else { return }
        if !self.isWriting, let value, value.members == nil { return self.complain(key, value, expected: "an object") }
        var object = RulesObject(isWriting: self.isWriting, key: key, rest: value?.members ?? [])
        object.perform(pass)
        if self.isWriting { return self.write(key, object.text) }
        self.unknown += object.unknown
        self.later = self.later ?? object.later
        self.complaint = self.complaint ?? object.complaint
    }

    private static let integer: StaticString = "a whole number of at most 64 bits, without fraction and exponent"

    /// - Parameter omitting: a value that is not written: the default of a member that came after release 0.5.
    mutating func count(
        _ key: StaticString, _ value: inout Int, isRequired: Bool = false, omitting: Int? = nil
    ) {
        // Where an `Int` has fewer bits, a number that does not fit is out of range, too.
        self.member(
            key, &value, isRequired: isRequired, expected: Self.integer, omitting: omitting,
            read: { $0.integer.map { Int(clamping: $0) } }, write: \.description)
    }

    mutating func duration(
        _ key: StaticString, _ value: inout Duration, isRequired: Bool = false, omitting: Duration? = nil
    ) {
        func text(_ duration: Duration) -> String { duration.saturatingMicroseconds.description }
        self.member(
            key, &value, isRequired: isRequired, expected: Self.integer, omitting: omitting,
            read: { $0.integer.map { Duration(wholeMicroseconds: $0) } }, write: text)
    }

    mutating func number(
        _ key: StaticString, _ value: inout Double, isRequired: Bool = false, omitting: Double? = nil
    ) {
        // Like `JSONEncoder`: the fewest digits that are read back as the same number, and no fraction of zero.
        func text(_ number: Double) -> String {
            let text = number.description
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        self.member(
            key, &value, isRequired: isRequired, expected: "a number", omitting: omitting, read: \.number, write: text)
    }

    /// The word of a rule that this release knows; nil for a rule of a later release.
    mutating func word(_ key: StaticString, _ value: inout TripRule.Word?) {
        var word = value?.rawValue ?? ""
        self.member(
            key, &word, isRequired: true, expected: "a text", omitting: nil, read: { $0.string },
            write: { "\"\($0)\"" })
        value = TripRule.Word(rawValue: word)
        guard value == nil, self.complaint == nil else { return }
        self.later = "the trip rule \(StoredText.cut(word).quoted)"
    }

    private mutating func member<Value: Equatable>(
        _ key: StaticString, _ value: inout Value, isRequired: Bool, expected: StaticString, omitting omitted: Value?,
        read: (ScannedValue) -> Value?, write: (Value) -> String
    ) {
        let scanned = self.removeMember(key, isRequired: isRequired)
        if self.isWriting {
            if value != omitted { self.write(key, write(value)) }
            return
        }
        guard let scanned else { return }
        if let read = read(scanned) { value = read } else { self.complain(key, scanned, expected: expected) }
    }

    /// Removes a member from the rest of the text, and returns its value; nil if there is none.
    @discardableResult mutating func removeMember(_ key: StaticString, isRequired: Bool = false) -> ScannedValue? {
        let index = key.withUTF8Buffer { bytes in self.rest.firstIndex { unsafe $0.key.elementsEqual(bytes) } }
        if let index { return self.rest.remove(at: index).value }
        if isRequired, !self.isWriting { self.complain(key, nil, expected: "") }
        return nil
    }

    private mutating func write(_ key: StaticString, _ text: String) {
        let bytes = key.withUTF8Buffer { unsafe ArraySlice($0) }
        self.written.append((bytes, "\"\(key)\":\(text)"))
    }

    private mutating func complain(_ key: StaticString, _ value: ScannedValue?, expected: StaticString) {
        guard self.complaint == nil else { return }
        let found = value.map { "is \($0.description); expected \(expected)" } ?? "is missing"
        self.complaint = "\(self.path(of: key.description)) \(found)"
    }

    /// The path of a member, for people, such as `recovery.jitter`.
    private func path(of name: String) -> String { self.key.map { "\($0).\(name)" } ?? name }
}
