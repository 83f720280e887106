import BreakerStore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The code of "One provider, one quota".

// snippet
/// An answer that counts against the provider, or against the account's quota.
struct ProviderAnswer: Error {
    var status: Int
    var verdict: Verdict

    /// Nil for an answer that counts against neither, such as 200 or 404.
    init?(status: Int, header: (String) -> String?) {
        let isQuota = status == 429 || status == 403 && header("X-RateLimit-Remaining") == "0"
        guard isQuota || status >= 500 else { return nil }
        self.status = status
        let wait = header("Retry-After").flatMap { Verdict.outage(retryAfter: $0, date: header("Date")) }
        let reset = isQuota ? header("RateLimit-Reset") ?? header("X-RateLimit-Reset") : nil
        let declared = wait ?? reset.flatMap { Verdict.outage(rateLimitReset: $0) }
        self.verdict = declared ?? (isQuota ? .outage(for: nil) : .failure)
    }
}

extension CallPolicy {
    static let provider = CallPolicy(
        classify: { ($0 as? ProviderAnswer)?.verdict ?? CallPolicy().classify($0) },
        describe: { error in (error as? ProviderAnswer).map { "status \($0.status)" } ?? CallPolicy().describe(error) }
    )
}

extension CircuitStore {
    func quota(of account: String, model: String) throws -> CircuitBreaker {
        let probes = ProbeRule(successesToClose: 15, lease: .seconds(300), growth: 2, toleratedShare: 0.1)
        let config = CircuitBreaker.Config(name: "acme/\(account)/\(model)", group: "acme", probes: probes)
        return try self.breaker(config, calls: .provider)
    }
}
// end of snippet

// snippet
func ask(_ request: URLRequest, through quota: CircuitBreaker) async throws -> Data {
    try await quota.run {
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        let bad = ProviderAnswer(status: response.statusCode, header: { response.value(forHTTPHeaderField: $0) })
        if let bad { throw bad }
        return data
    }
}
// end of snippet

enum QuotaSnippets {
    static func ask(
        _ request: HTTPClientRequest, with client: HTTPClient, through quota: CircuitBreaker
    ) async throws -> HTTPClientResponse {
        // snippet
        let response = try await quota.run {
            try await client.execute(request, timeout: .seconds(240))
        } failure: { response in
            ProviderAnswer(status: Int(response.status.code), header: { response.headers.first(name: $0) })
        }
        // end of snippet
        return response
    }
}

// The declarations of AsyncHTTPClient that the article uses: tests have no dependencies.
extension QuotaSnippets {
    struct HTTPClient {
        var answer: HTTPClientResponse

        func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
            self.answer
        }
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
        /// The values by the headers' names as they are asked for.
        var values: [String: String] = [:]

        func first(name: String) -> String? { self.values[name] }
    }

    struct TimeAmount {
        static func seconds(_ amount: Int64) -> TimeAmount { TimeAmount() }
    }
}
