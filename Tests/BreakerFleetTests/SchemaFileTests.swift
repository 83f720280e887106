#if PostgreSQL
import Foundation
import Testing

@testable import BreakerFleet

/// The file from which an owner makes the schema with psql says what links need.
@Suite struct SchemaFileTests {
    @Test func isTheSchema() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/fleet.sql"), encoding: .utf8)
        #expect(text == FleetSchema.script)
    }
}
#endif
