#if PostgreSQL
import BreakerTestSupport

/// The processes of one host: its callers, and its links each by itself, so that a link can be stopped alone.
final class FleetHostProcesses {
    private struct Link {
        var process: WorkerProcess
        /// Kills the process, which is stopped, when the torture ends without letting it go on.
        var keeper: WorkerProcess?

        var isStopped: Bool { self.keeper != nil }
    }

    struct Look: Equatable {
        var state: String
        var hold: String
        var event: Int
        var epoch: String
    }

    let number: Int
    private let place: FleetPlace
    private let connection: String
    private var caller: WorkerProcess?
    private var links: [Link?]

    init(_ number: Int, in place: FleetPlace, links: Int, _ connection: String) {
        self.number = number
        self.place = place
        self.connection = connection
        self.links = Array(repeating: nil, count: links)
    }

    /// Starts what does not run.
    func start() throws {
        if self.caller == nil { self.caller = try self.process(.fleetCaller) }
        for index in self.links.indices where self.links[index] == nil {
            self.links[index] = Link(process: try self.process(.fleetLink, self.connection))
        }
    }

    private func process(_ role: Role, _ more: String...) throws -> WorkerProcess {
        try WorkerProcess(
            program: "breaker-torture",
            arguments: ["role", role.rawValue, self.place.directory, String(self.number)] + more)
    }

    // MARK: - What befalls them

    func killCaller() async {
        await self.caller?.die()
        self.caller = nil
    }

    func killLink(_ index: Int) async {
        self.links[index]?.keeper?.clear()
        await self.links[index]?.process.die()
        self.links[index] = nil
    }

    func killAll() async {
        await self.killCaller()
        for index in self.links.indices { await self.killLink(index) }
    }

    func stopLink(_ index: Int) throws {
        guard let link = self.links[index], !link.isStopped else { return }
        // Its input ends with the torture, however that ends.
        let script = "read -r line; kill -KILL \"$1\""
        self.links[index]?.keeper = try WorkerProcess(
            program: "/bin/sh", arguments: ["-c", script, "keeper", String(link.process.pid)])
        link.process.stop()
    }

    func goOn(_ index: Int) {
        self.links[index]?.keeper?.clear()
        self.links[index]?.keeper = nil
        self.links[index]?.process.goOn()
    }

    func goOn() { for index in self.links.indices { self.goOn(index) } }

    /// Lets all processes end in order, or kills them if one has failed.
    func end() async throws {
        for process in [self.caller] + self.links.map({ $0?.process }) {
            guard let process else { continue }
            let code = await process.quit()
            if code != 0 { throw Ended(description: "a process of h\(self.number) ended with \(code)") }
        }
        self.clear()
    }

    struct Ended: Error, CustomStringConvertible { let description: String }

    func clear() {
        self.caller?.clear()
        for link in self.links {
            link?.keeper?.clear()
            link?.process.clear()
        }
        self.caller = nil
        self.links = self.links.map { _ in nil }
    }

    // MARK: - What they say

    /// One of the links works, and all others stand by.
    func isJoined() async throws -> Bool {
        let healths = try await self.healths()
        return healths.count { $0 == "joined" } == 1 && healths.count { $0 == "standby" } == healths.count - 1
    }

    func healths() async throws -> [String] {
        var healths: [String] = []
        for link in self.links where link?.isStopped == false {
            healths.append(try await link?.process.ask("health")["health"] ?? "")
        }
        return healths
    }

    /// Nil if the callers are dead.
    func operate(_ words: String) async throws -> String? { try await self.caller?.ask(words).description }

    /// How the file is; nil if it can't be read just now.
    func look() async throws -> Look? {
        guard let reply = try await self.caller?.ask("look"), let state = reply["state"], let hold = reply["hold"],
            let event = reply.number("event"), let epoch = reply["epoch"]
        else { return nil }
        return Look(state: state, hold: hold, event: event, epoch: epoch)
    }
}
#endif
