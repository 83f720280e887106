import BreakerStore
import Testing

@testable import BreakerFleet

@Suite struct OrderNameTests {
    @Test func knowsItsOwnEvents() {
        #expect(LinkOrder.isOfFleet(LinkOrder.fleet))
        #expect(LinkOrder.isOfFleet(LinkOrder.fleet(for: "ann")))
        #expect(!LinkOrder.isOfFleet("ann"))
        #expect(!LinkOrder.isOfFleet("fleetwood"))
        #expect(!LinkOrder.isOfFleet(nil))
    }
}
