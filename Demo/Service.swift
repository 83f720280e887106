/// The flaky service: HTTP on the loopback address, and the log of the requests that reached it.
///
/// All that the demo counts it counts here, not by what the callers say.
final class Service {
    enum Mood {
        case well
        case broken
        /// Broken, and the next request gets no answer at all.
        case brokenAndHanging
    }

    struct Request {
        var worker: String
        var arrived: Moment
        /// It reached the service while that was broken: it had better not been made.
        var isDoomed: Bool
    }

    let port: UInt16
    var mood = Mood.well
    private(set) var requests: [Request] = []

    /// Whose request hangs, and since when.
    private(set) var hanging: Request?

    private var hangingConnection: Descriptor?
    private let socket: Descriptor
    private var connections: [Descriptor: [UInt8]] = [:]

    init() throws {
        (self.socket, self.port) = try Loopback.newServer()
    }

    /// Where something may happen that the service must see to.
    var descriptors: [Descriptor] { [self.socket] + self.connections.keys }

    var doomed: Int { self.requests.count { $0.isDoomed } }

    func requests(of worker: String) -> [Request] { self.requests.filter { $0.worker == worker } }

    /// Something happened at one of its descriptors.
    func serve(_ descriptor: Descriptor) {
        if descriptor == self.socket {
            while let caller = Loopback.caller(of: self.socket) { self.connections[caller] = [] }
        } else {
            self.read(descriptor)
        }
    }

    func shut() {
        for descriptor in self.descriptors { descriptor.shut() }
    }

    private func read(_ connection: Descriptor) {
        let bytes = connection.receive()
        guard !bytes.isEmpty else { return self.hangUp(connection) }
        self.connections[connection, default: []] += bytes
        let text = String(decoding: self.connections[connection] ?? [], as: UTF8.self)
        if text.hasSuffix("\r\n\r\n") { self.answer(text, on: connection) }
    }

    private func answer(_ text: String, on connection: Descriptor) {
        let agent = text.split(separator: "\r\n").first { $0.hasPrefix("User-Agent: ") }
        let worker = agent.map { String($0.dropFirst("User-Agent: ".count)) } ?? ""
        let request = Request(worker: worker, arrived: Moment.now, isDoomed: self.mood != .well)
        self.requests.append(request)
        switch self.mood {
        case .well:
            connection.send(Self.response("200 OK"))
            self.hangUp(connection)
        case .broken:
            connection.send(Self.response("503 Service Unavailable"))
            self.hangUp(connection)
        case .brokenAndHanging:
            self.hanging = request
            self.hangingConnection = connection
            self.mood = .broken
        }
    }

    /// The request that hangs fails at last.
    func failHanging() {
        guard let connection = self.hangingConnection else { return }
        (self.hanging, self.hangingConnection) = (nil, nil)
        connection.send(Self.response("503 Service Unavailable"))
        self.hangUp(connection)
    }

    private func hangUp(_ connection: Descriptor) {
        if connection == self.hangingConnection { self.hangingConnection = nil }
        self.connections[connection] = nil
        connection.shut()
    }

    private static func response(_ status: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }
}
