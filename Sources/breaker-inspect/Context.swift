import BreakerStore
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The console, clock, operator and store of a verb.
struct Context {
    let console: any Console
    let clock: any HostClock
    let isJSON: Bool
    let style: Style
    /// The operator that `--as` names.
    private let operatorName: String?
    private var givenPath: String?
    /// The option or variable that names the path.
    let pathSource: String

    /// How long an opening, and then a change, waits for other writers: longer than in a service, since a person waits.
    private static let patience = Duration.seconds(2)
    /// An opening gives living workers two seconds to lock their bytes in a new lock file.
    private static let openingPatience = Duration.seconds(3)

    init(
        _ arguments: Arguments,
        environment: Environment,
        console: any Console,
        clock: any HostClock
    ) throws(Failure) {
        self.console = console
        self.clock = clock
        self.isJSON = arguments.has(.json)
        self.style = Style(
            isColored: try arguments.color.isOn(onTerminal: console.outputIsTerminal, environment: environment))
        self.operatorName = arguments[.asName]
        let fromEnvironment = environment["BREAKER_STORE"].flatMap { $0.isEmpty ? nil : $0 }
        self.givenPath = arguments[.store] ?? fromEnvironment
        self.pathSource = arguments[.store] == nil ? "BREAKER_STORE" : "--store"
    }

    var who: String { self.operatorName ?? self.console.loginName }

    var now: Date { self.clock.wallTime }

    /// A monotonic clock, for waiting times.
    var uptime: Duration { self.clock.uptime }

    func path() throws(Failure) -> String {
        guard let path = self.givenPath else {
            throw .usage("no store is named", hint: "name its file with --store PATH, or in BREAKER_STORE")
        }
        return path
    }

    /// A copy of this context for another store.
    func on(_ path: String) -> Context {
        var other = self
        other.givenPath = path
        return other
    }

    /// Why this host does not reach other hosts that share its circuits; nil if it does, or shares none.
    var linkTrouble: String? {
        get throws(Failure) {
            guard let files = try? StoreFiles(path: try self.path()) else { return nil }
            return files.link.trouble(at: self.now)
        }
    }

    /// Runs `body` with the store, opened so that nothing on the disk changes.
    func reading<Value>(
        _ body: (CircuitStore) throws(BreakerStoreError) -> Value
    ) throws(Failure) -> Value {
        try self.withStore(.readOnly, doing: "read", body)
    }

    /// Runs `body` with the store, opened to be changed.
    func changing<Value>(
        _ body: (CircuitStore) throws(BreakerStoreError) -> Value
    ) throws(Failure) -> Value {
        try self.withStore(.existing, doing: "change", body)
    }

    /// Runs `body` with a watch over the store, opened so that nothing on the disk changes.
    func watching<Value>(_ body: (ChangeWatch) throws(Failure) -> Value) throws(Failure) -> Value {
        let store = try self.open(.readOnly)
        defer { store.close() }
        return try body(store.watch())
    }

    /// The failure for an error of the library about the store.
    func failure(_ error: BreakerStoreError, doing: String = "read") -> Failure {
        Failure(error, path: self.givenPath ?? "", doing: doing)
    }

    /// Warns that some workers don't obey the file, if they can't use it.
    func warn(of live: LiveWorkers) {
        if !self.isJSON, let notice = live.notice { self.console.writeError("\(Tool.name): \(notice)\n") }
    }

    /// Writes a remark below the output that it concerns.
    func writeFooter(_ text: String) {
        let lines = text.wrapped(to: self.console.width)
        self.console.write("\n" + lines.map { "\(self.style.paint($0, .bad))\n" }.joined())
    }

    private func withStore<Value>(
        _ access: Access,
        doing: String,
        _ body: (CircuitStore) throws(BreakerStoreError) -> Value
    ) throws(Failure) -> Value {
        let store = try self.open(access)
        defer { store.close() }
        do throws(BreakerStoreError) {
            return try body(store)
        } catch {
            throw self.failure(error, doing: doing)
        }
    }

    func configuration(_ access: Access) -> CircuitStore.Configuration {
        var configuration = CircuitStore.Configuration()
        configuration.access = access
        configuration.clock = self.clock
        configuration.busyTimeout = Self.patience
        configuration.openingPatience = Self.openingPatience
        configuration.workerName = Tool.name
        // An operator's command must not lock out the services of an older release: only services migrate the file.
        configuration.migration = .never
        return configuration
    }

    private func open(_ access: Access) throws(Failure) -> CircuitStore {
        let path = try self.path()
        do throws(BreakerStoreError) {
            return try CircuitStore(path: path, configuration: self.configuration(access))
        } catch {
            throw Failure(error, path: path, doing: "open")
        }
    }
}
