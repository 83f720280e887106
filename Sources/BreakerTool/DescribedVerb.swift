/// One thing that a program does, as its command line and its help know it.
package protocol DescribedVerb: Sendable {
    static var name: String { get }
    /// What follows the name on the command line.
    static var synopsis: String { get }
    /// What the synopsis means, for those who complete it.
    static var operands: [Operand] { get }
    /// What it does, in one sentence without a full stop.
    static var summary: String { get }
    /// What else is to be known; lines of the help.
    static var details: String { get }
    /// Its own options, beside those of every verb.
    static var options: [Option] { get }
    /// The options of every verb that this one refuses.
    static var refusedOptions: [Option] { get }
}

extension DescribedVerb {
    package static var operands: [Operand] { [] }
    package static var refusedOptions: [Option] { [] }
}
