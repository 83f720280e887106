extension JSONValue {
    /// A verb as `help` prints it.
    package static func verb(
        name: String, usage: String, summary: String, options: [(name: String, value: String?, help: String)]
    ) -> JSONValue {
        let options = options.map {
            JSONValue.object(["help": .string($0.help), "name": .string($0.name), "value": .text($0.value)])
        }
        return .object([
            "name": .string(name), "options": .array(options), "summary": .string(summary), "usage": .string(usage),
        ])
    }
}
