/// An argument after the verb that is no option.
package struct Operand: Sendable {
    package var kind: ArgumentKind
    /// Whether the operand may be repeated.
    package var isRepeated: Bool

    package init(kind: ArgumentKind, isRepeated: Bool = false) {
        self.kind = kind
        self.isRepeated = isRepeated
    }

    package static func one(_ kind: ArgumentKind) -> Operand { Operand(kind: kind) }
    package static func many(_ kind: ArgumentKind) -> Operand { Operand(kind: kind, isRepeated: true) }
}
