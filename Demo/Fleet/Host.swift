import BreakerStore

/// One of three hosts, as the demo sees it: a file, a clock, four workers, and perhaps a link.
final class Host {
    static let names = ["north", "east", "west"]

    let name: String
    let path: String
    let clock: ClockOfAHost
    /// By which the demo looks at the host's file.
    let store: CircuitStore
    private(set) var workers: [Worker] = []
    /// The process that joins the file with those of the others.
    private(set) var link: ChildProcess?

    /// - Parameter directory: where its file is.
    init(number: Int, in directory: String) throws {
        self.name = Self.names[number]
        self.path = "\(directory)/\(self.name).db"
        self.clock = ClockOfAHost(number: number)
        var configuration = CircuitStore.Configuration()
        configuration.workerName = "demo"
        configuration.clock = self.clock
        configuration.busyTimeout = .seconds(10)
        self.store = try CircuitStore(path: self.path, configuration: configuration)
    }

    func startWorkers(on stage: Stage) throws {
        for number in 1...4 {
            let name = "\(self.name)-\(number)"
            let arguments = WorkerMode.arguments(
                name: name, port: stage.service.port, path: self.path, clock: self.clock)
            self.workers.append(try stage.startWorker(named: name, arguments))
        }
    }

    #if PostgreSQL
    func startLink(on stage: Stage, connection: String) throws {
        let name = "the link of \(self.name)"
        guard self.clock.isOfTheMachine else {
            let arguments = LinkMode.arguments(
                host: self.name, path: self.path, clock: self.clock, connection: connection)
            self.link = try stage.start(name, nil, arguments)
            return
        }
        let guardTime = "\(FleetRules.guardTime.components.seconds)s"
        self.link = try stage.startTool(
            "breaker-fleet",
            ["run", "--store", self.path, "--host", self.name, "--guard", guardTime, "--postgres", connection],
            by: ChildProcess.leash(signal: "TERM"))
    }

    /// What its link said last.
    var health: LinkHealth? {
        self.link?.lines.reversed().lazy.compactMap { LinkHealth(line: $0, of: self.name) }.first
    }
    #endif

    /// What happened to the circuit, the oldest first.
    func events() throws -> [CircuitEvent] { try self.store.history(of: FleetRules.circuit).reversed() }

    func events(_ kind: CircuitEvent.Kind) throws -> [CircuitEvent] { try self.events().filter { $0.kind == kind } }

    func circuit() throws -> CircuitSnapshot? { try self.store.circuit(named: FleetRules.circuit) }

    /// Whether one of its workers made the request.
    func made(_ request: Service.Request) -> Bool { self.workers.contains { $0.name == request.worker } }
}
