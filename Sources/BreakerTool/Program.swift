import BreakerStore

/// What is true of a program as a whole: the tables that its command line, its help and its manual page are made of.
package struct Program: Sendable {
    package let name: String
    package let version: String
    /// What it does, in one sentence.
    package let sentence: String
    /// What follows its name on the command line.
    package let synopsis: String
    package let verbs: [any DescribedVerb.Type]
    /// What no person asks for: the help does not tell of these.
    package let hiddenVerbs: [any DescribedVerb.Type]
    /// The options of every verb.
    package let commonOptions: [Option]
    /// The codes that it ends with, and what each means there: a contract with scripts.
    package let exitCodes: [(code: ExitCode, meaning: String)]
    /// The variables of the environment that it asks for, and what they are for.
    package let variables: [(name: String, help: String)]
    package let examples: [String]
    package let manual: Manual

    package init(
        name: String, version: String, sentence: String, synopsis: String, verbs: [any DescribedVerb.Type],
        hiddenVerbs: [any DescribedVerb.Type] = [], commonOptions: [Option],
        exitCodes: [(code: ExitCode, meaning: String)], variables: [(name: String, help: String)],
        examples: [String], manual: Manual
    ) {
        self.name = name
        self.version = version
        self.sentence = sentence
        self.synopsis = synopsis
        self.verbs = verbs
        self.hiddenVerbs = hiddenVerbs
        self.commonOptions = commonOptions
        self.exitCodes = exitCodes
        self.variables = variables
        self.examples = examples
        self.manual = manual
    }

    /// Of the options of every verb those that make sense for this one.
    package func commonOptions(of verb: (any DescribedVerb.Type)?) -> [Option] {
        let refused = verb?.refusedOptions ?? []
        return self.commonOptions.filter { !refused.contains($0) }
    }

    /// The verb of a name, also a hidden one; one that nearly has the name is the hint.
    package func verb(named name: String) throws(Failure) -> any DescribedVerb.Type {
        if let verb = (self.verbs + self.hiddenVerbs).first(where: { $0.name == name }) { return verb }
        let nearest = Spelling.nearest(to: name, among: self.verbs.map { $0.name })
        throw .usage("unknown verb \(name.quoted)", hint: nearest.map { "did you mean '\($0)'?" })
    }
}
