#if PostgreSQL
import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The figures of a fleet, which scripts/bench-fleet.sh has printed: counts are judged, times and memory are not.
///
/// - `prepare FOLDER HOSTS CIRCUITS`: makes the files of the hosts.
/// - `idle FOLDER HOSTS SECONDS CONNECTION`: only links, one for each of these files, as in the program breaker-fleet.
/// - `storm FOLDER HOSTS CONNECTION`: each host has one failure at the same moment.
/// - `words FOLDER HOSTS CONNECTION`: a hold of all circuits of prepared files; a word beside a link that was away.
/// - `probes FOLDER HOSTS CONNECTION`: all hosts call a service that breaks and comes back.
/// - `trips FOLDER HOSTS CONNECTION`, `beats …`: trips, one after the other; `beats` without NOTIFY.
/// - `calls FOLDER 1 CONNECTION`, `away …`: calls beside a link; `away` with a connection that leads nowhere.
@main enum Program {
    static func main() async {
        do {
            try await self.run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print("error: \(error)")
            exit(1)
        }
    }

    private static func run(_ words: [String]) async throws {
        guard words.count >= 3, let count = Int(words[2]), (1...500).contains(count) else { throw BenchError.usage }
        let folder = words[1]
        switch (words[0], words.count) {
        case ("prepare", 4):
            guard let circuits = Int(words[3]) else { throw BenchError.usage }
            for number in 0..<count { try BenchHost.prepare(number, in: folder, circuits: circuits) }
        case ("idle", 5):
            guard let seconds = Int(words[3]) else { throw BenchError.usage }
            let hosts = try (0..<count).map { try BenchHost($0, in: folder, words[4]) }
            try await IdleFigures(hosts: hosts).tell(for: seconds)
        case ("storm", 4):
            let hosts = try (0..<count).map { try BenchHost($0, in: folder, words[3]) }
            try await StormFigures(hosts: hosts).tell()
        case ("words", 4):
            let hosts = try (0..<count).map { try BenchHost($0, in: folder, words[3]) }
            try await WordFigures(hosts: hosts, connection: words[3]).tell()
        case ("probes", 4):
            let hosts = try (0..<count).map { try BenchHost($0, in: folder, words[3]) }
            try await ProbeFigures(hosts: hosts).tell()
        case ("trips", 4), ("beats", 4):
            let listens = words[0] == "trips"
            let hosts = try (0..<count).map { try BenchHost($0, in: folder, words[3], listens: listens) }
            try await TripFigures(hosts: hosts, rounds: listens ? 30 : 6).tell()
        case ("calls", 4), ("away", 4):
            let host = try BenchHost(0, in: folder, words[3])
            try await CallFigures(host: host).tell(isServerThere: words[0] == "calls")
        default: throw BenchError.usage
        }
    }
}
#else
/// Without the trait there is no fleet.
@main enum Program { static func main() {} }
#endif
