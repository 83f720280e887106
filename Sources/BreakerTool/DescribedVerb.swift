/// The description of a verb, for the command line and the help.
package protocol DescribedVerb: Sendable {
    static var name: String { get }
    /// The part of the command line after the name.
    static var synopsis: String { get }
    /// The operands of the synopsis, for completion.
    static var operands: [Operand] { get }
    /// The verb's effect, in one sentence without a full stop.
    static var summary: String { get }
    /// More lines of the help.
    static var details: String { get }
    /// The verb's own options, in addition to the common ones.
    static var options: [Option] { get }
    /// The options of every verb that this verb refuses.
    static var refusedOptions: [Option] { get }
}

extension DescribedVerb {
    package static var operands: [Operand] { [] }
    package static var refusedOptions: [Option] { [] }
}
