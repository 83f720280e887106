import BreakerTool
import Testing

/// Names in the commands that the tool advises: a person who copies such a command must reach the circuit.
@Suite struct NameAsArgumentTests {
    @Test(arguments: [
        ("users", "users"), ("acme/db:5432", "acme/db:5432"), ("früh", "früh"), ("acme pay", #""acme pay""#),
        ("a*", #""a*""#), ("", "NAME"), ("-x", "NAME"), ("$HOME", "NAME"), ("it's", "NAME"), ("a\nb", "NAME"),
    ])
    func isQuotedWhereAShellNeedsIt(name: String, argument: String) { #expect(name.asArgument == argument) }
}
