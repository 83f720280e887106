#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the programs of this package: they are built beside the test bundle.
package enum BuiltProgram {
    /// The path of a program by the name of its product.
    package static func path(of name: String) -> String { self.directory + "/" + name }

    private static let directory: String = {
        #if canImport(Darwin)
        // The bundle is loaded by a program of the toolchain, which is told where it lies.
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
        let end = bundle.range(of: ".xctest").flatMap { bundle[..<$0.lowerBound].lastIndex(of: "/") }
        return end.map { String(bundle[..<$0]) } ?? "."
        #else
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let program = String(decoding: buffer[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
        #endif
    }()
}
