/// The declarations of AsyncHTTPClient that "Recipes" uses: tests have no dependencies.
struct HTTPClient {
    var answer: HTTPClientResponse

    func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse { self.answer }
}

struct HTTPClientRequest {
    var url: String
}

struct HTTPClientResponse {
    var status: HTTPResponseStatus
    var headers = HTTPHeaders()
}

struct HTTPResponseStatus {
    var code: UInt
}

struct HTTPHeaders {
    var retryAfter: String?

    func first(name: String) -> String? { name == "Retry-After" ? self.retryAfter : nil }
}

struct TimeAmount {
    static func seconds(_ amount: Int64) -> TimeAmount { TimeAmount() }
}
