#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A directory of the demo's own, which it removes in the end.
struct Scratch {
    let path: String

    init() throws {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var name = Array("\(parent)/breaker-demo.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw DemoError.system("make a directory in \(parent)", code: errno) }
        self.path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func remove() { try? FileManager.default.removeItem(atPath: self.path) }
}
