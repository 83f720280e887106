/// A promise that was not kept.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func require(_ isKept: Bool, _ promise: @autoclosure () -> String) throws {
    if !isKept { throw Violation(promise()) }
}
