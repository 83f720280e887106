/// An option of the command line.
package struct Option: Sendable, Equatable {
    /// The option's name, without the dashes.
    package var name: String
    /// The word for the value in the help; nil if the option takes no value.
    package var placeholder: String?
    /// Whether the value may be omitted; if present, it follows an equals sign.
    package var isValueOptional = false
    /// Whether the value may be an empty text.
    package var mayBeEmpty = false
    /// The kind of the value.
    package var kind = ArgumentKind.text
    package var help: String

    package var spelling: String { "--\(self.name)" }

    package init(
        _ name: String, _ placeholder: String? = nil, _ kind: ArgumentKind = .text, isValueOptional: Bool = false,
        mayBeEmpty: Bool = false, help: String
    ) {
        self.name = name
        self.placeholder = placeholder
        self.kind = kind
        self.isValueOptional = isValueOptional
        self.mayBeEmpty = mayBeEmpty
        self.help = help
    }
}

/// The options that every program has.
extension Option {
    package static let json = Option("json", help: "print one JSON document, for scripts")
    package static let color = Option(
        "color", "WHEN", .anyOf(ColorChoice.self), help: "auto (the default), always or never")
    package static let help = Option("help", help: "show help for the verb")
}
