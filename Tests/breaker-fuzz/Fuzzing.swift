#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What libFuzzer's program feeds (https://llvm.org/docs/LibFuzzer.html#fuzz-target).
///
/// On the command line `--target=NAME` says which target that is, and `--seeds=DIRECTORY` where its seeds are written
/// to; libFuzzer passes over options with two dashes.
enum Fuzzing {
    static let target: any Target = {
        do {
            guard let name = Self.option("--target="), let known = TargetName(rawValue: name) else {
                let names = TargetName.allCases.map(\.rawValue).joined(separator: ", ")
                throw Violation("name a target with --target=NAME: \(names)")
            }
            let target = try known.make(in: try Scratch())
            if let directory = Self.option("--seeds=") {
                for (number, seed) in try target.seeds.enumerated() {
                    try Scratch.write(seed, to: "\(directory)/seed-\(number)")
                }
            }
            return target
        } catch {
            Self.say("breaker-fuzz: \(error)\n")
            // Not `exit`: libFuzzer takes that for a crash.
            _exit(64)
        }
    }()

    private static func option(_ name: String) -> String? {
        CommandLine.arguments.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    /// Whole, and at once: what follows may end the process.
    static func say(_ text: String) { _ = unsafe write(STDERR_FILENO, text, text.utf8.count) }
}

@_cdecl("LLVMFuzzerTestOneInput")
func feed(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        let target = Fuzzing.target
        let start = ContinuousClock.now
        try target.feed(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
        let time = ContinuousClock.now - start
        // Nothing hangs. libFuzzer's own time-out looks at the clock every few seconds alone.
        try require(time < .seconds(120), "that took \(time)")
    } catch {
        // libFuzzer takes the signal, and keeps the bytes.
        Fuzzing.say("violated: \(error)\n")
        abort()
    }
    return 0
}
