#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Breaks stores on purpose and checks that nothing was lost and nobody was in the way.
///
/// Run by itself it does what its options say; the processes that it starts are itself in a role.
@main
enum Program {
    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "role" {
            arguments.removeFirst()
            exit(await Role.run(arguments))
        }
        if arguments.contains("--help") || arguments.contains("-h") {
            print(Options.help)
            return
        }
        let options: Options
        do {
            options = try Options(arguments)
        } catch {
            Report.say("breaker-torture: \(error)\n\(Options.help)")
            exit(64)
        }
        if options.parts.contains(.fleet), let lack = FleetPart.lack {
            Report.say("breaker-torture: fleet: \(lack)")
            exit(64)
        }
        // Nothing stays behind, whatever becomes of the test that waits for it.
        if options.isShort { alarm(580) }
        exit(await Self.run(options) ? 0 : 1)
    }

    /// Runs the parts one after the other; false if anything was violated.
    private static func run(_ options: Options) async -> Bool {
        var isWhole = true
        for part in options.parts {
            let report = Report(part, options)
            do {
                let stage = try Stage(options, report)
                defer { stage.clear() }
                try await part.run(stage)
            } catch {
                report.violated("the harness itself failed: \(error)")
            }
            isWhole = report.close() && isWhole
        }
        return isWhole
    }
}
