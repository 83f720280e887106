#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

extension Option {
    static let postgres = Option(
        "postgres", "CONNINFO",
        help:
            "libpq's connection string or URI, without a password; libpq's variables and files add the rest")
    static let fleet = Option("fleet", "NAME", help: "the fleet, whose hosts share circuits; without it 'default'")
    static let version = Option("version", help: "print the versions of the program, the schemas and SQLite")

    // Options of `run`; `check` has the first two.
    static let store = Option("store", "PATH", .file, help: "a store's file; may be given several times")
    static let host = Option(
        "host", "NAME", help: "what this host is called, unique for each file: with several files NAME/1, NAME/2 …")
    static let circuits = Option("circuits", "PATTERN", help: "the circuits that are shared; all by default")
    static let minimumHosts = Option(
        "minimum-hosts", "N", help: "how many hosts must have failures before a circuit opens on all; 2 by default")
    static let guardTime = Option(
        "guard", "DURATION",
        help: "how much longer a host goes on refusing calls if its link is dead; 10s by default")
    static let lease = Option(
        "lease", "DURATION", help: "for how long one host alone may probe; 5s by default")
    static let noListen = Option(
        "no-listen",
        help: "don't use LISTEN, as behind a transaction pooler: other hosts' changes then take up to a second")
}

/// The values of the options, or, for options that were not given, of environment variables.
struct Settings {
    private let arguments: Arguments
    private let environment: Environment

    /// Each option of the program that has a variable.
    private static let options: [Option] = [
        .store, .postgres, .fleet, .host, .circuits, .minimumHosts, .guardTime, .lease, .noListen,
    ]

    init(_ arguments: Arguments, _ environment: Environment) {
        self.arguments = arguments
        self.environment = environment
    }

    /// The environment variables with their help texts.
    static var variables: [(name: String, help: String)] {
        self.options.map { option in
            let more: String =
                switch option {
                case .store: "; several with colons between them"
                case .noListen: "; 1 or 0"
                default: ""
                }
            return (self.variable(of: option), "used where \(option.spelling) is not given\(more)")
        }
    }

    private static func variable(of option: Option) -> String {
        "BREAKER_FLEET_" + option.name.map { $0 == "-" ? "_" : $0.uppercased() }.joined()
    }

    private func variable(of option: Option) -> String? {
        self.environment[Self.variable(of: option)].flatMap { $0.isEmpty ? nil : $0 }
    }

    subscript(option: Option) -> String? { self.arguments[option] ?? self.variable(of: option) }

    /// The name of a value in messages: its option, or its environment variable.
    private func name(of option: Option) -> String {
        self.arguments.has(option) ? "option '\(option.spelling)'" : Self.variable(of: option)
    }

    // MARK: - Values

    /// The stores that the options or the variable name.
    var namedStores: [String] {
        let given = self.arguments.all(.store)
        return given.isEmpty ? self.variable(of: .store)?.split(separator: ":").map { String($0) } ?? [] : given
    }

    func stores() throws(Failure) -> [String] {
        let paths = self.namedStores
        guard !paths.isEmpty else {
            throw .usage("no store is named", hint: "name its file with --store PATH, or in BREAKER_FLEET_STORE")
        }
        guard Set(paths).count == paths.count else { throw .usage("a store is named twice") }
        return paths
    }

    /// The connection string; throws if it has a password, which a process list would show.
    func connection() throws(Failure) -> String {
        let text = self[.postgres] ?? ""
        let holdsPassword: Bool
        do throws(FleetError) {
            holdsPassword = try FleetServer.holdsPassword(text)
        } catch {
            throw Failure(.usage, "\(self.name(of: .postgres)): \(error.message)")
        }
        guard !holdsPassword else {
            throw Failure(
                .usage, "\(self.name(of: .postgres)) holds a password, which others on this host can read",
                hint: "leave it to libpq: a password file (PGPASSFILE), a service file (PGSERVICE) or PGPASSWORD")
        }
        return text
    }

    var fleetName: String { self[.fleet] ?? FleetLink.Configuration().fleet }

    /// The configuration of a file's link.
    ///
    /// - Parameter number: the file's number if there are several files, else nil.
    func configuration(number: Int?) throws(Failure) -> FleetLink.Configuration {
        var configuration = FleetLink.Configuration()
        configuration.fleet = self.fleetName
        configuration.host = self[.host].map { name in number.map { "\(name)/\($0)" } ?? name }
        if let pattern = self[.circuits] { configuration.circuits = pattern }
        if let text = self[.minimumHosts] {
            guard let count = Int(text) else {
                throw .usage("\(self.name(of: .minimumHosts)) takes a number, not \(text.quoted)")
            }
            configuration.minimumHosts = count
        }
        if let time = try self.duration(.guardTime) { configuration.guardTime = time }
        if let time = try self.duration(.lease) { configuration.lease = time }
        configuration.listens = try !self.flag(.noListen)
        do throws(FleetError) {
            try configuration.validate()
        } catch {
            throw Failure(.usage, self.inOptions(error.message))
        }
        return configuration
    }

    private func duration(_ option: Option) throws(Failure) -> Duration? {
        guard let text = self[option] else { return nil }
        do throws(Failure) {
            return try DurationArgument.parse(text, for: option)
        } catch {
            var failure = error
            failure.message = failure.message.replacing("option '\(option.spelling)'", with: self.name(of: option))
            throw failure
        }
    }

    private func flag(_ option: Option) throws(Failure) -> Bool {
        if self.arguments.has(option) { return true }
        switch self.variable(of: option) {
        case nil, "0": return false
        case "1": return true
        case let text?: throw .usage("\(self.name(of: option)) takes 1 or 0, not \(text.quoted)")
        }
    }

    /// A message of the library, with a setting's name replaced by that of the program's option.
    private func inOptions(_ message: String) -> String {
        let names: [(String, Option)] = [
            ("minimumHosts", .minimumHosts), ("guardTime", .guardTime), ("lease", .lease), ("circuits", .circuits),
            ("fleet", .fleet), ("host", .host),
        ]
        for (word, option) in names where message.hasPrefix("\(word) ") {
            return self.name(of: option) + message.dropFirst(word.count)
        }
        return message
    }
}
#endif
