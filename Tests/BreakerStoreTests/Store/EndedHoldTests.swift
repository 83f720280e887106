import BreakerStore
import Testing

/// A hold whose time is over was ended by nobody, whoever comes by and writes it down.
@Suite struct EndedHoldTests {
    @Test(arguments: ["hold", "release", "reset"])
    func nobodyIsBlamedForItsEnd(change: String) throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
        configuration.clock = clock
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        _ = try store.breaker(.init(name: "users"))
        try store.hold("users", .open, for: .seconds(5), by: "ann")
        clock.advance(by: .seconds(5))
        switch change {
        case "hold": try store.hold("users", .closed, by: "bob")
        case "release": try store.release("users", by: "bob")
        default: try store.reset("users", by: "bob")
        }
        let told = try store.history(of: "users").reversed().map { "\($0.kind.rawValue) \($0.by ?? "-")" }
        switch change {
        case "hold": #expect(told == ["held ann", "released -", "held bob"])
        case "release": #expect(told == ["held ann", "released -"])
        default: #expect(told == ["held ann", "reset bob"])
        }
    }
}
