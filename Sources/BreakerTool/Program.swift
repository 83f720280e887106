import BreakerStore

/// A program as a whole: the tables for its command line, its help and its manual page.
package struct Program: Sendable {
    package let name: String
    package let version: String
    /// The program's purpose, in one sentence.
    package let sentence: String
    /// The part of the command line after the program's name.
    package let synopsis: String
    package let verbs: [any DescribedVerb.Type]
    /// Verbs that only scripts use; the help does not list them.
    package let hiddenVerbs: [any DescribedVerb.Type]
    /// What is meant by verbs of other tools.
    package let otherVerbs: [String: String]
    /// The options of every verb.
    package let commonOptions: [Option]
    /// The exit codes, and what each means in this program: a contract with scripts.
    package let exitCodes: [(code: ExitCode, meaning: String)]
    /// The environment variables that the program reads, and their purposes.
    package let variables: [(name: String, help: String)]
    package let examples: [String]
    package let manual: Manual

    package init(
        name: String, version: String, sentence: String, synopsis: String, verbs: [any DescribedVerb.Type],
        hiddenVerbs: [any DescribedVerb.Type] = [], otherVerbs: [String: String] = [:], commonOptions: [Option],
        exitCodes: [(code: ExitCode, meaning: String)], variables: [(name: String, help: String)],
        examples: [String], manual: Manual
    ) {
        self.name = name
        self.version = version
        self.sentence = sentence
        self.synopsis = synopsis
        self.verbs = verbs
        self.hiddenVerbs = hiddenVerbs
        self.otherVerbs = otherVerbs
        self.commonOptions = commonOptions
        self.exitCodes = exitCodes
        self.variables = variables
        self.examples = examples
        self.manual = manual
    }

    /// The common options that this verb does not refuse.
    package func commonOptions(of verb: (any DescribedVerb.Type)?) -> [Option] {
        let refused = verb?.refusedOptions ?? []
        return self.commonOptions.filter { !refused.contains($0) }
    }

    /// The verb with this name, even if it is hidden; the hint of the error is a verb with a similar name.
    package func verb(named name: String) throws(Failure) -> any DescribedVerb.Type {
        if let verb = (self.verbs + self.hiddenVerbs).first(where: { $0.name == name }) { return verb }
        let nearest = self.otherVerbs[name] ?? Spelling.nearest(to: name, among: self.verbs.map { $0.name })
        throw .usage("unknown verb \(name.quoted)", hint: nearest.map { "did you mean '\($0)'?" })
    }
}
