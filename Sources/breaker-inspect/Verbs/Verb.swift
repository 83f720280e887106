import BreakerTool

/// A verb of this tool.
protocol Verb: DescribedVerb {
    init(_ arguments: Arguments) throws(Failure)
    func run(in context: Context) throws(Failure) -> ExitCode
}
