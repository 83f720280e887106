import BreakerStore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The code of "Recipes" that calls other services over HTTP.

// snippet
/// An answer that says something against its service.
struct BadAnswer: Error {
    var status: Int
    var retryAfter: Duration?

    /// Nil for an answer that says nothing against the service, such as 200 or 404.
    ///
    /// A `Retry-After` of seconds is read; a date in its place is not.
    init?(status: Int, retryAfter: String?) {
        guard status >= 500 || status == 429 else { return nil }
        self.status = status
        self.retryAfter = retryAfter.flatMap { Int64($0) }.map { .seconds($0) }
    }
}
// end of snippet

// snippet
extension CallPolicy {
    static let http = CallPolicy(
        timeout: .seconds(10),
        classify: { error in
            switch error {
            case let answer as BadAnswer where answer.retryAfter != nil: .outage(for: answer.retryAfter)
            default: CallPolicy().classify(error)
            }
        },
        describe: { error in
            switch error {
            case let answer as BadAnswer: "status \(answer.status)"
            default: CallPolicy().describe(error)
            }
        }
    )
}
// end of snippet

// snippet
func get(_ url: URL, through circuit: CircuitBreaker) async throws -> (Data, HTTPURLResponse) {
    try await circuit.run {
        let (data, response) = try await URLSession.shared.data(from: url)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        let retryAfter = response.value(forHTTPHeaderField: "Retry-After")
        if let bad = BadAnswer(status: response.statusCode, retryAfter: retryAfter) { throw bad }
        return (data, response)
    }
}
// end of snippet

func send(
    _ request: HTTPClientRequest, with client: HTTPClient, through circuit: CircuitBreaker
) async throws -> HTTPClientResponse {
    // snippet
    let response = try await circuit.run {
        try await client.execute(request, timeout: .seconds(10))
    } failure: { response in
        BadAnswer(status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"))
    }
    // end of snippet
    return response
}
