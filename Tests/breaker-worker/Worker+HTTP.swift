import BreakerStore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls of another service over HTTP.
extension Worker {
    /// `http get <circuit> <url>`: one call as "Recipes" has it, and what its caller was told.
    ///
    /// `http execute <circuit> <status> [<retry-after>]` is the same with another client, which gets such an answer.
    /// `http begin <circuit> <url> <calls>` begins calls that SIGTERM cancels, and `http ends` waits for their ends.
    func callOverHTTP(_ command: Command) async throws -> String {
        switch try command.word(0) {
        case "get":
            let recipe = try self.recipe(command)
            let page = try Self.url(command.word(2))
            return await Self.end { "status=\(try await breaker_worker.get(page, through: recipe).1.statusCode)" }
        case "execute":
            let recipe = try self.recipe(command)
            let client = HTTPClient(
                answer: HTTPClientResponse(
                    status: HTTPResponseStatus(code: UInt(try command.number(2))),
                    headers: HTTPHeaders(retryAfter: try? command.word(3))))
            let request = HTTPClientRequest(url: "http://127.0.0.1/")
            return await Self.end { "status=\(try await send(request, with: client, through: recipe).status.code)" }
        case "begin":
            let calls = try CancelledCalls(
                self.breaker(command.word(1)), Self.url(command.word(2)), count: command.number(3))
            self.cancelledCalls = calls
            return "ok"
        case "ends":
            guard let calls = self.cancelledCalls else { throw Missing(what: "calls over HTTP") }
            return await calls.ends
        default: throw Missing(what: "a way to call over HTTP")
        }
    }

    private func recipe(_ command: Command) throws -> CircuitBreaker {
        let config = try self.breaker(command.word(1)).config
        return try self.store.breaker(config, calls: .http)
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw Missing(what: "a URL like '\(text)'") }
        return url
    }

    /// What came of a call, in a word.
    private static func end(of call: () async throws -> String) async -> String {
        do {
            return try await call()
        } catch let answer as BadAnswer {
            return "bad=\(answer.status)"
        } catch let refusal as CircuitOpenError {
            return "retry-after=\(refusal.retryAfter.map { "\($0.components.seconds)" } ?? "none")"
        } catch {
            return "threw=\(type(of: error))"
        }
    }
}
