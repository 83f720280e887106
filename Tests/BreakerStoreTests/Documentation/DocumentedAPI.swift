/// What the documentation's code calls, and its errors.
struct API: Sendable {
    struct Response: Sendable {
        var status: Int
    }

    var error: (any Error)?

    func fetchUser() async throws -> String {
        if let error = self.error { throw error }
        return "Ada"
    }

    func fetchRates() async throws -> [Double] { try await self.fetchUser().isEmpty ? [] : [1.1] }

    func send() async throws -> Response { Response(status: 503) }

    func readTemperature() throws -> Double {
        if let error = self.error { throw error }
        return 21.5
    }

    func fetch(_ done: @escaping @Sendable (Result<String, any Error>) -> Void) {
        done(self.error.map { .failure($0) } ?? .success("Ada"))
    }
}

struct HTTPError: Error {
    var status: Int
    /// What `Retry-After` says.
    var retryAfter: Duration?
}

struct ConnectionRefused: Error {}
