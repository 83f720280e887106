#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Variables of the environment.
///
/// A list and not a dictionary: for the first dictionary of a type, the runtime searches all loaded libraries for
/// conformances, which loads a megabyte of them into memory (`scripts/bench-inspect.py` measures it).
package struct Environment: ExpressibleByDictionaryLiteral, Sendable {
    private var variables: [(name: String, value: String)]

    package init(dictionaryLiteral variables: (String, String)...) {
        self.variables = variables.map { (name: $0.0, value: $0.1) }
    }

    /// Reads those variables of this process that a program uses; Foundation would read all, which costs memory.
    package init(ofProcessFor program: Program) {
        self = [:]
        for (name, _) in program.variables {
            if let value = unsafe getenv(name) { self[name] = unsafe String(cString: value) }
        }
    }

    package subscript(name: String) -> String? {
        get { self.variables.first { $0.name == name }?.value }
        set {
            self.variables.removeAll { $0.name == name }
            if let newValue { self.variables.append((name: name, value: newValue)) }
        }
    }
}
