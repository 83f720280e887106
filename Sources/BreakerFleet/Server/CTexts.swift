#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Copies of texts as C strings.
///
/// A zero byte inside a text, which PostgreSQL's texts can't have, becomes U+FFFD. Safe: this object owns the copies
/// and frees them in `deinit`; the pointers leave it only while a closure runs.
@safe
final class CTexts {
    private let copies: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String?]) {
        unsafe self.copies = texts.map { text in
            guard let text else { return nil }
            let whole = text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
            return unsafe strdup(whole)
        }
    }

    deinit { for index in unsafe self.copies.indices { unsafe free(self.copies[index]) } }

    func withPointers<Result>(_ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        withExtendedLifetime(self) { unsafe body(self.copies.map { unsafe UnsafePointer($0) }) }
    }
}
#endif
