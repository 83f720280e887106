/// How a worker calls the service.
struct ServiceClient {
    /// The service answered with an error.
    struct ServiceUnavailable: Error {}

    var port: UInt16
    var worker: String

    func get(_ path: String) throws {
        let connection = try Loopback.connection(to: self.port)
        defer { connection.shut() }
        connection.send(
            "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: \(self.worker)\r\nConnection: close\r\n\r\n")
        var answer: [UInt8] = []
        while case let bytes = connection.receive(), !bytes.isEmpty { answer += bytes }
        guard String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 ") else { throw ServiceUnavailable() }
    }
}
