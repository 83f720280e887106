/// The words before the word that is being completed: the verb, the number of operands, and the options.
///
/// Unlike `Arguments`, it reports no errors, because the line is unfinished.
struct TypedWords {
    private(set) var verb: (any DescribedVerb.Type)?
    /// How many operands there are.
    private(set) var operands = 0
    private var values: [(option: Option, value: String)] = []
    private let program: Program
    /// The option whose value comes next.
    private(set) var pending: Option?
    /// Whether `--` has ended the options.
    private(set) var isPastOptions = false
    /// Whether the line has a verb that the program does not know.
    private(set) var isUnknown = false

    init(_ words: some Sequence<String>, of program: Program) {
        self.program = program
        for word in words {
            if let option = self.pending {
                self.set(option, word)
            } else if self.isPastOptions || !word.hasPrefix("-") || word == "-" {
                if self.verb == nil {
                    self.verb = program.verbs.first { $0.name == word }
                    // After an unknown verb no word can be completed.
                    if self.verb == nil { self.isUnknown = true }
                } else {
                    self.operands += 1
                }
            } else if word == "--" {
                self.isPastOptions = true
            } else {
                let (name, value) = Arguments.split(word)
                guard let option = self.option(name) else { continue }
                if let value {
                    self.set(option, value)
                } else if option.placeholder != nil, !option.isValueOptional {
                    self.pending = option
                }
            }
        }
    }

    /// The options that are allowed here.
    var options: [Option] { (self.verb?.options ?? []) + self.program.commonOptions(of: self.verb) }

    /// The option with this spelling; before the verb, the options of all verbs count.
    func option(_ spelling: String) -> Option? {
        let known = self.verb == nil ? self.program.verbs.flatMap { $0.options } : []
        return (self.options + known).first { $0.spelling == spelling }
    }

    /// The value that an option has so far.
    subscript(option: Option) -> String? { self.values.last { $0.option == option }?.value }

    /// The kind of the next operand; nil if no operand can follow.
    var operand: ArgumentKind? {
        guard let verb = self.verb else { return self.isUnknown ? nil : .verb }
        let operands = verb.operands
        if self.operands < operands.count { return operands[self.operands].kind }
        return operands.last.flatMap { $0.isRepeated ? $0.kind : nil }
    }

    private mutating func set(_ option: Option, _ value: String) {
        self.pending = nil
        self.values.append((option, value))
    }
}
