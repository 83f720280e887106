import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Prints what the library costs beside what the same takes without it.
///
/// Times are printed, counts are gates: only they decide the exit code.
@main
struct BreakerBench {
    static func main() async {
        do {
            // Detached: on the main actor another executor would be in what is measured.
            let code = try await Task.detached { try await Self.run(Array(CommandLine.arguments.dropFirst())) }.value
            exit(code)
        } catch {
            Program.complain("breaker-bench: \(error)")
            exit(1)
        }
    }

    private typealias Figure = (name: String, measure: (inout Table, Effort) async throws -> Void)

    private static var figures: [Figure] {
        [
            ("healthy", HealthyCall.measure),
            ("forms", CallForms.measure),
            ("lanes", CountingLanes.measure),
            ("counting", Counting.measure),
            ("timed", TimedCall.measure),
            ("refused", RefusedCall.measure),
            ("failures", Failures.measure),
            ("recording", Recording.measure),
            ("crowds", Crowds.measure),
            ("shares", Shares.measure),
            ("names", DynamicNames.measure),
            ("opening", OpeningStore.measure),
        ]
    }

    private static func run(_ arguments: [String]) async throws -> Int32 {
        if let role = arguments.first.flatMap(Child.Role.init), arguments.count == 2 {
            try await Self.run(role, arguments[1])
            return 0
        }
        let names = Set(arguments).subtracting(["--json", "--quick", "--best"])
        guard names.isSubset(of: Self.figures.map(\.name)) else {
            let all = Self.figures.map { "[\($0.name)]" }.joined(separator: " ")
            Program.complain("usage: breaker-bench [--quick] [--best] [--json] \(all)")
            return 2
        }
        var effort: Effort = arguments.contains("--quick") ? .quick : .full
        effort.best = arguments.contains("--best")
        var table = Table()
        table.addCount("control: one system call, seen by the guard", try Child.systemCalls(.systemCall), .exactly(1))
        for figure in Self.figures where names.isEmpty || names.contains(figure.name) {
            try await figure.measure(&table, effort)
        }
        let choice = effort.best ? "the fastest" : "medians"
        table.note("times are \(choice) of rounds that take turns with their floors; only counts decide the exit code")
        print(arguments.contains("--json") ? try table.json() : table.text)
        return table.passes ? 0 : 1
    }

    private static func run(_ role: Child.Role, _ path: String) async throws {
        switch role {
        case .healthyCalls: try await HealthyCall.runWithoutSystemCalls(path)
        case .healthyForms: try await CallForms.runWithoutSystemCalls(path)
        case .refusedCalls: try await RefusedCall.runWithoutSystemCalls(path)
        case .countedFailures: try await Counting.runWithoutSystemCalls(path)
        case .idling: try await Counting.idle(path)
        case .systemCall: try await Child.withoutSystemCalls { bb_make_system_call() }
        case .opening: try await OpeningStore.open(path)
        case .openingTraced: try OpeningStore.openTraced(path)
        case .connecting: try OpeningStore.connect(path)
        case .connectingTraced: try OpeningStore.connectTraced(path)
        case .staying: try OpeningStore.stay(path)
        case .failing: try Crowds.fail(path)
        case .failingInC: try Crowds.failInC(path)
        case .failingPaced: try Crowds.failPaced(path)
        case .sharing: try Shares.share(path)
        case .exactShare: try ExactShares.share(path)
        case .failingTraced: try Failures.failTraced(path)
        case .trippingTraced: try Failures.tripTraced(path)
        }
    }
}
