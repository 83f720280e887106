#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension [String] {
    /// Runs `body` with the texts as C strings, and a null pointer behind them, as `argv` has them.
    func withCStrings<Value>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value) -> Value {
        // Copies that live until the end of this function.
        var copies = unsafe self.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        return unsafe body(&copies)
    }
}
