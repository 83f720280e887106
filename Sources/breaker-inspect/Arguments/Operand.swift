/// What follows a verb on the command line, beside options.
struct Operand: Sendable {
    var kind: ArgumentKind
    /// Whether any number of them may follow.
    var isRepeated = false

    static func one(_ kind: ArgumentKind) -> Operand { Operand(kind: kind) }
    static func many(_ kind: ArgumentKind) -> Operand { Operand(kind: kind, isRepeated: true) }
}
