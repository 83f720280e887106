#if PostgreSQL
/// What happens to hosts, links, the server and the network in a round: all of it follows from the seed.
struct FleetPlan: Sendable {
    enum Act: Sendable, Equatable, CustomStringConvertible {
        case service(isUp: Bool)
        case traffic(host: Int, isOn: Bool)
        case killCaller(host: Int)
        case killLink(host: Int, Int)
        case killHost(host: Int)
        case startHost(host: Int)
        case stopLink(host: Int, Int)
        case goOnLink(host: Int, Int)
        case killServer
        case startServer
        case stall
        case cut
        case delay(milliseconds: Int)
        case passOn
        /// The state of the server that a failover leads back to.
        case remember
        case failOver
        case setClock(ahead: Int)
        case operate(host: Int, String)

        var description: String {
            switch self {
            case .service(let isUp): "service \(isUp ? "up" : "down")"
            case .traffic(let host, let isOn): "h\(host) \(isOn ? "calls" : "is idle")"
            case .killCaller(let host): "h\(host)'s callers killed"
            case .killLink(let host, let link): "h\(host)'s link \(link) killed"
            case .killHost(let host): "h\(host) killed"
            case .startHost(let host): "h\(host) started"
            case .stopLink(let host, let link): "h\(host)'s link \(link) stopped"
            case .goOnLink(let host, let link): "h\(host)'s link \(link) goes on"
            case .killServer: "server killed"
            case .startServer: "server started"
            case .stall: "proxy stalls"
            case .cut: "proxy cuts"
            case .delay(let milliseconds): "proxy delays by \(milliseconds) ms"
            case .passOn: "proxy passes on"
            case .remember: "server remembered"
            case .failOver: "failover"
            case .setClock(let seconds): "server's clock set \(seconds) s ahead"
            case .operate(let host, let word): "operator on h\(host): \(word)"
            }
        }

        /// By what name a report counts it.
        var kind: String {
            switch self {
            case .service: "changes of the service"
            case .traffic: "changes of traffic"
            case .killCaller: "callers killed"
            case .killLink: "links killed"
            case .killHost: "hosts killed"
            case .startHost: "hosts started"
            case .stopLink: "links stopped"
            case .goOnLink: "links gone on"
            case .killServer: "servers killed"
            case .startServer: "servers started"
            case .stall: "networks stalled"
            case .cut: "networks cut"
            case .delay: "networks slowed"
            case .passOn: "networks mended"
            case .remember: "servers remembered"
            case .failOver: "failovers"
            case .setClock: "servers' clocks set"
            case .operate: "operators' words"
            }
        }

        /// Which hosts may probe because of it while another host does: documented, counted, and no violation.
        ///
        /// A host whose link says nothing guards itself, and so do hosts that can't reach the server. A killed caller
        /// is no reason: its slot is free at once, and the right to probe stays its host's. An operator's word is one
        /// for its own host, and only a probe that is under way elsewhere meets it.
        func hostsThatMayProbe(_ plan: FleetPlan) -> Set<Int> {
            switch self {
            case .service, .traffic, .killCaller, .startHost, .goOnLink, .startServer, .passOn, .remember: []
            case .killLink(let host, _), .killHost(let host), .stopLink(let host, _), .operate(let host, _): [host]
            case .stall, .cut, .delay: plan.far
            case .killServer, .failOver, .setClock: Set(0..<plan.hosts)
            }
        }
    }

    struct Step: Sendable {
        let delay: Duration
        let act: Act
    }

    let hosts: Int
    /// How many links each host has; one works, the others stand by.
    let links: [Int]
    /// The hosts behind the proxy.
    let far: Set<Int>
    let steps: [Step]
    /// For how long the service stays down in the quiet outages at the end, in which nothing else goes wrong.
    let outages: [Duration]

    init(seed: UInt64, isShort: Bool) {
        var random = SeededRandom(seed: seed)
        let hosts = Int.random(in: 2...4, using: &random)
        self.hosts = hosts
        self.links = (0..<hosts).map { _ in Int.random(in: 0..<3, using: &random) == 0 ? 2 : 1 }
        self.far = Set((0..<hosts).filter { _ in Bool.random(using: &random) })
        // Kinds of trouble come together in some rounds and alone in others.
        var troubles = Trouble.allCases.filter { _ in Bool.random(using: &random) }
        if troubles.isEmpty { troubles = [.hosts] }
        var steps: [Step] = []
        for _ in 0..<(isShort ? 16 : 24) {
            let delay = Duration.milliseconds(Int.random(in: 20...450, using: &random))
            let act =
                Int.random(in: 0..<3, using: &random) == 0
                ? Self.ordinary(hosts, &random)
                : (troubles.randomElement(using: &random) ?? .hosts).act(hosts, self.links, &random)
            steps.append(Step(delay: delay, act: act))
        }
        self.steps = steps
        self.outages = (0..<(isShort ? 1 : 2)).map { _ in .milliseconds(Int.random(in: 200...1_500, using: &random)) }
    }

    private static func ordinary(_ hosts: Int, _ random: inout SeededRandom) -> Act {
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<4: .service(isUp: false)
        case 4..<6: .service(isUp: true)
        default: .traffic(host: Int.random(in: 0..<hosts, using: &random), isOn: Bool.random(using: &random))
        }
    }

    private enum Trouble: CaseIterable {
        case hosts, links, server, network, failovers, clock, operators

        func act(_ hosts: Int, _ links: [Int], _ random: inout SeededRandom) -> Act {
            let host = Int.random(in: 0..<hosts, using: &random)
            let link = Int.random(in: 0..<links[host], using: &random)
            switch self {
            case .hosts:
                return [.killCaller(host: host), .killHost(host: host), .startHost(host: host), .startHost(host: host)]
                    .randomElement(using: &random) ?? .startHost(host: host)
            case .links:
                return
                    [
                        .killLink(host: host, link), .stopLink(host: host, link), .stopLink(host: host, link),
                        .goOnLink(host: host, link), .goOnLink(host: host, link), .startHost(host: host),
                    ].randomElement(using: &random) ?? .startHost(host: host)
            case .server: return Bool.random(using: &random) ? .killServer : .startServer
            case .network:
                let delay = Int.random(in: 10...300, using: &random)
                return [.stall, .cut, .delay(milliseconds: delay), .passOn, .passOn].randomElement(using: &random)
                    ?? .passOn
            case .failovers: return Bool.random(using: &random) ? .remember : .failOver
            case .clock: return .setClock(ahead: [-3_600, -2, 0, 2, 3_600].randomElement(using: &random) ?? 0)
            case .operators:
                let time = Int.random(in: 300...3_000, using: &random)
                let words = ["reset", "probe", "hold-open", "hold-closed", "hold-open \(time)", "release", "release"]
                return .operate(host: host, words.randomElement(using: &random) ?? "reset")
            }
        }
    }
}
#endif
