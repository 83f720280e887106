import BreakerTool

/// One thing that the tool does.
protocol Verb: DescribedVerb {
    init(_ arguments: Arguments) throws(Failure)
    func run(in context: Context) throws(Failure) -> ExitCode
}
