@testable import BreakerStore

/// The writer's lock of a store's file, held by a connection of its own as another process would.
final class WriteLock: @unchecked Sendable {
    // Sendable: a test uses it from one thread at a time.
    private let connection: Connection

    init(_ store: CircuitStore) throws {
        self.connection = try Connection(path: store.backend.file.path, access: .readWrite)
        try self.connection.configureForSharing()
        try self.connection.waitWhenBusy(.seconds(10))
        try self.connection.execute("BEGIN IMMEDIATE")
    }

    func release() throws { try self.connection.execute("ROLLBACK") }
}
