@testable import BreakerStore

extension Connection {
    /// Sets what a connection that commits to a store's file is used with; the file must be in WAL mode or become so.
    func configureForSharing() throws(BreakerStoreError) {
        try self.configureForReading()
        try self.configureForWriting()
    }
}
