/// The service and the worker processes of one part of the story, and what waits for them.
///
/// One thread does it all: while the story waits, it answers requests and hears what workers say.
final class Stage {
    /// How long the story waits for what should come within a blink: only a broken demo waits so long.
    static let patience = Duration.seconds(60)

    let service: Service
    private(set) var workers: [Worker] = []
    /// Other programs that were started, some of which have ended.
    private var tools: [ChildProcess] = []
    /// The store's file; nil if the workers have breakers in memory.
    private let path: String?
    private let program: String

    init(path: String?) throws {
        self.service = try Service()
        self.path = path
        self.program = CommandLine.arguments[0]
    }

    /// The workers that the demo has not ended.
    var alive: [Worker] { self.workers.filter { !$0.isGone } }

    /// Who made the request.
    func worker(of request: Service.Request) throws -> Worker {
        guard let worker = self.workers.first(where: { $0.name == request.worker })
        else { throw DemoError.unknownCaller(request.worker) }
        return worker
    }

    /// Lets the service hang with the next request, and waits for it.
    func hangNextProbe() throws -> Service.Request {
        self.service.mood = .brokenAndHanging
        return try self.awaitHangingProbe()
    }

    /// Waits for the request with which the service hangs.
    func awaitHangingProbe() throws -> Service.Request {
        try self.wait(until: "a probe reaches the service") { self.service.hanging != nil }
        guard let probe = self.service.hanging else { throw DemoError.waitedInVain("a probe") }
        return probe
    }

    @discardableResult
    func startWorker() throws -> Worker {
        let name = "worker \(self.workers.count + 1)"
        return try self.startWorker(
            named: name, WorkerMode.arguments(name: name, port: self.service.port, path: self.path))
    }

    func startWorker(named name: String, _ arguments: [String]) throws -> Worker {
        let worker = Worker(try ChildProcess(name: name, program: self.program, arguments: arguments))
        self.workers.append(worker)
        return worker
    }

    /// Runs `breaker-inspect`, which was built beside the demo; returns its exit code and what it said.
    ///
    /// - Parameter path: the store's file, if the stage has none.
    func inspect(_ arguments: [String], at path: String? = nil) throws -> (code: Int32, lines: [String]) {
        try self.end(of: self.startTool("breaker-inspect", arguments + ["--store", path ?? self.path ?? ""]))
    }

    /// Runs a program to its end; returns its exit code and what it said.
    func run(_ name: String, _ program: String, _ arguments: [String]) throws -> (code: Int32, lines: [String]) {
        try self.end(of: self.start(name, program, arguments))
    }

    /// Waits until a program has ended; returns its exit code and what it said.
    func end(of tool: ChildProcess) throws -> (code: Int32, lines: [String]) {
        try self.wait(until: "\(tool.name) ends") { tool.isSilent }
        return (tool.end(), tool.lines)
    }

    /// Starts a tool that was built beside the demo; its errors are heard, too.
    ///
    /// - Parameter launcher: the words of a program that starts the tool.
    func startTool(_ name: String, _ arguments: [String], by launcher: [String] = []) throws -> ChildProcess {
        let directory = self.program.lastIndex(of: "/").map { self.program[...$0] } ?? ""
        let words = ["exec \"$@\" 2>&1", "sh"] + launcher + [directory + name] + arguments
        return try self.start(name, "/bin/sh", ["-c"] + words)
    }

    /// Starts a program, which is heard until the stage is cleared.
    ///
    /// - Parameter program: nil for the demo itself.
    func start(_ name: String, _ program: String?, _ arguments: [String]) throws -> ChildProcess {
        let tool = try ChildProcess(name: name, program: program ?? self.program, arguments: arguments)
        self.tools.append(tool)
        return tool
    }

    /// Answers and listens until the condition holds.
    func wait(until what: String, _ isSo: () throws -> Bool) throws {
        let deadline = Moment.now + Self.patience
        while try !isSo() {
            if let signal = Interrupt.signalNumber { throw DemoError.interrupted(signal: signal) }
            if let lost = self.alive.first(where: { $0.process.isSilent }) { throw DemoError.ended(lost.name) }
            if Moment.now > deadline { throw DemoError.waitedInVain(what) }
            self.attend()
        }
    }

    /// Sees to what happened, or comes back after a moment.
    func attend() {
        let tools = self.tools.filter { !$0.isSilent }
        // A worker that was told to end may still be in a call.
        let workers = self.workers.filter { !$0.process.isKilled && !$0.process.isSilent }
        let watched = self.service.descriptors + workers.map(\.process.output) + tools.map(\.output)
        let ready = Descriptor.ready(of: watched, within: .milliseconds(20))
        for descriptor in self.service.descriptors where ready.contains(descriptor) { self.service.serve(descriptor) }
        for worker in workers where ready.contains(worker.process.output) { worker.hear() }
        for tool in tools where ready.contains(tool.output) { tool.hear() }
    }

    /// Ends all processes that were started here.
    func clear() {
        let processes = self.workers.map(\.process) + self.tools
        for process in processes { process.die() }
        for process in processes { process.end() }
        self.service.shut()
    }
}
