import BreakerStore

/// A command line, split into the verb, its options and its operands.
package struct Arguments: Sendable {
    package private(set) var verb: (any DescribedVerb.Type)?
    package private(set) var operands: [String] = []
    /// How many of the operands stand before the first `--`; nil without one.
    package private(set) var operandsBeforeDashes: Int?
    /// The options on the command line, with empty values for options without one; the last value counts.
    private var values: [(option: Option, value: String)] = []

    /// Parses a command line.
    ///
    /// Options may be before and after the verb and the operands; all arguments after `--` are operands.
    package init(_ arguments: [String], of program: Program) throws(Failure) {
        // The verb decides which options exist, but options may come before it: until it is known, those of all verbs
        // count.
        let verbOptions = program.verbs.flatMap { $0.options } + program.commonOptions
        var rest = arguments[...]
        var given: [(option: String, value: String?)] = []
        var onlyOperands = false
        while let argument = rest.popFirst() {
            if onlyOperands || !argument.hasPrefix("-") || argument == "-" {
                try self.append(argument, of: program)
            } else if argument == "--" {
                onlyOperands = true
                self.operandsBeforeDashes = self.operands.count
            } else {
                let (name, value) = Self.split(argument)
                let option = verbOptions.first { $0.spelling == name }
                guard let option, option.placeholder != nil, !option.isValueOptional, value == nil else {
                    given.append((name, value))
                    continue
                }
                guard let next = rest.popFirst() else {
                    throw .usage("option '\(name)' needs a value", verb: self.verb?.name)
                }
                given.append((name, next))
            }
        }
        for (name, value) in given { try self.set(name, value, of: program) }
    }

    package func has(_ option: Option) -> Bool { self[option] != nil }

    package subscript(option: Option) -> String? { self.values.last { $0.option == option }?.value }

    /// All values of an option that may be given several times.
    package func all(_ option: Option) -> [String] { self.values.filter { $0.option == option }.map(\.value) }

    /// The value of an option that takes a duration; nil if the option is not given.
    package func duration(_ option: Option) throws(Failure) -> Duration? {
        guard let text = self[option] else { return nil }
        return try DurationArgument.parse(text, for: option)
    }

    package var color: ColorChoice {
        get throws(Failure) {
            guard let word = self[.color] else { return .auto }
            return try Self.choice(word, of: ColorChoice.allCases, for: .color)
        }
    }

    /// One of the words that an option takes.
    package static func choice<Word: RawRepresentable<String>>(
        _ word: String,
        of words: [Word],
        for option: Option
    ) throws(Failure) -> Word {
        if let known = words.first(where: { $0.rawValue == word }) { return known }
        let all = words.map(\.rawValue)
        let nearest = Spelling.nearest(to: word, among: all)
        throw .usage(
            "option '\(option.spelling)' takes \(all.joined(separator: ", ")), not \(word.quoted)",
            hint: nearest.map { "did you mean '\($0)'?" }
        )
    }

    /// Adds an argument that is no option: the first one is the verb.
    private mutating func append(_ operand: String, of program: Program) throws(Failure) {
        if self.verb == nil {
            self.verb = try program.verb(named: operand)
        } else {
            self.operands.append(operand)
        }
    }

    private mutating func set(_ name: String, _ value: String?, of program: Program) throws(Failure) {
        let known = program.commonOptions + (self.verb?.options ?? [])
        guard let option = known.first(where: { $0.spelling == (name == "-h" ? "--help" : name) }) else {
            let nearest = Spelling.nearest(to: name, among: known.map(\.spelling))
            let place = self.verb.map { " for '\($0.name)'" } ?? ""
            throw .usage(
                "unknown option \(name.quoted)\(place)",
                hint: nearest.map { "did you mean '\($0)'?" },
                verb: self.verb?.name
            )
        }
        switch (option.placeholder, value) {
        case (_?, nil) where option.isValueOptional: self.values.append((option, ""))
        case (nil, nil): self.values.append((option, ""))
        case (nil, _?): throw .usage("option '\(option.spelling)' takes no value", verb: self.verb?.name)
        case (_?, nil): throw .usage("option '\(option.spelling)' needs a value", verb: self.verb?.name)
        case (_?, let value?):
            guard !value.isEmpty || option.mayBeEmpty else {
                throw .usage("the value of '\(option.spelling)' is empty")
            }
            self.values.append((option, value))
        }
    }

    /// Splits `--name=value`; the value is nil without an equals sign.
    package static func split(_ argument: String) -> (name: String, value: String?) {
        guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }
}

extension [String] {
    /// These names, each once; they are compared by their bytes.
    package var withoutRepeats: [String] {
        var seen: Set<[UInt8]> = []
        return self.filter { seen.insert([UInt8]($0.utf8)).inserted }
    }
}
