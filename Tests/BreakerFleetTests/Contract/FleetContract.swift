#if PostgreSQL
import BreakerFleet
import BreakerStore
import Foundation
import Testing

/// Uses each declaration of the fleet's product as another module would: one that is renamed, retyped or gone does not
/// compile.
@Suite struct FleetContract {
    @Test func configuration() {
        var configuration = FleetLink.Configuration()
        let values: (String, String?, String, Int, Duration, Duration, Bool) = (
            configuration.fleet, configuration.host, configuration.circuits, configuration.minimumHosts,
            configuration.guardTime, configuration.lease, configuration.listens
        )
        #expect(values.0 == "default" && values.1 == nil && values.2 == "*" && values.3 == 2)
        #expect(values.4 == .seconds(10) && values.5 == .seconds(5) && values.6)
        let onHealth: (@Sendable (FleetHealth) -> Void)? = configuration.onHealth
        #expect(onHealth == nil)
        configuration.fleet = "f"
        configuration.host = "h"
        configuration.circuits = "a*"
        configuration.minimumHosts = 3
        configuration.guardTime = .seconds(1)
        configuration.lease = .seconds(1)
        configuration.listens = false
        configuration.onHealth = { _ in }
    }

    @Test func link() async throws {
        let store = try CircuitStore.temporary()
        let make: (CircuitStore, String, FleetLink.Configuration) throws(FleetError) -> FleetLink = {
            (store, connection, configuration) throws(FleetError) in
            _ = { () throws(FleetError) in try FleetLink(store: store, connection: connection) }
            return try FleetLink(store: store, connection: connection, configuration: configuration)
        }
        let link: some Sendable = try make(store, "host=127.0.0.1 port=1", FleetLink.Configuration())
        let one = try FleetLink(store: store, connection: "host=127.0.0.1 port=1")
        let run: () async throws -> Void = one.run
        let health: FleetHealth = one.health
        #expect(health == .closed)
        one.close()
        await #expect(throws: FleetError.self) { try await run() }
        store.close()
        _ = link
    }

    @Test func values() {
        let codes: Set<FleetError.Code> = [
            .invalidConfiguration, .unreachable, .refused, .wrongSchema, .duplicateHost, .timedOut, .unavailable,
        ]
        #expect(codes.count == 7)
        var error = FleetError(code: .refused, message: "no")
        (error.code, error.message) = (.timedOut, "late")
        let (text, thrown): (String, any Error) = (error.description, error)
        #expect(text.contains("late") && thrown is FleetError && Set([error]).count == 1)
        let date = Date()
        for health in [FleetHealth.joined, .standby, .closed, .cutOff(since: date, error: error)] {
            switch health {
            case .joined, .standby, .closed: break
            case .cutOff(let since, error: let cause): #expect(since == date && cause == error)
            }
        }
    }

    /// What can't ever work is refused at once, in words that repeat nothing of the connection string.
    @Test func refusesBadStrings() throws {
        let store = try CircuitStore.temporary()
        defer { store.close() }
        let error = #expect(throws: FleetError.self) { try FleetLink(store: store, connection: "password='s3cret") }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5]) func refusesBadValues(number: Int) throws {
        let store = try CircuitStore.temporary()
        defer { store.close() }
        var configuration = FleetLink.Configuration()
        switch number {
        case 0: configuration.fleet = ""
        case 1: configuration.host = "a\u{1F}b"
        case 2: configuration.circuits = ""
        case 3: configuration.minimumHosts = 0
        case 4: configuration.guardTime = .zero
        default: configuration.lease = .seconds(100_000)
        }
        let error = #expect(throws: FleetError.self) {
            try FleetLink(store: store, connection: "", configuration: configuration)
        }
        #expect(error?.code == .invalidConfiguration)
    }
}
#endif
