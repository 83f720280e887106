#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a store's file again whenever it has changed, without changing anything on the disk.
///
/// The watch compares the files at the store's paths and the header of the wal-index, which every commit changes; while
/// both are the same, no statement runs. Not Sendable: one thread uses the watch.
package final class ChangeWatch {
    /// Evidence that the file is unchanged.
    private struct Proof: Equatable {
        var identity: FileIdentity
        var tag: Tag?
        /// Replaces the tag where no process has the store open, so that no wal-index can be mapped.
        var stamp: FileStamp?
        /// Whether each later write gives the files another stamp.
        var isSettled = true

        /// Whether an equal proof proves that the file is unchanged.
        var isReliable: Bool { self.tag?.isReliable ?? self.isSettled }
    }

    /// How often the file was read.
    package private(set) var reads = 0

    private let file: StoreFile
    private let clock: any HostClock
    /// The proof from before the last read.
    private var lastProof: Proof?
    /// A connection that only maps the header.
    private var sentinel: (database: Database, identity: FileIdentity)?

    init(_ file: StoreFile, _ clock: any HostClock) {
        self.file = file
        self.clock = clock
    }

    /// Reads the file by `body`; nil if the file is unchanged since this last succeeded.
    ///
    /// Throws if the file can't be read; the next call tries again. Reads on the calling thread.
    ///
    /// - Parameter body: gets the view, and whether another file has replaced the one that was last read.
    package func inspectIfChanged<Value>(
        _ body: (StoreView, _ isAnotherFile: Bool) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value? {
        // The proof comes from before the read, so the result is at least as new.
        let proof = self.makeProof()
        if proof.isReliable, proof == self.lastProof { return nil }
        self.reads += 1
        let isAnotherFile = self.lastProof.map { !proof.identity.hasSameDatabase(as: $0.identity) } ?? false
        let value = try StoreView.ofFile(self.file, self.clock) { (view) throws(BreakerStoreError) in
            try body(view, isAnotherFile)
        }
        self.lastProof = proof
        return value
    }

    private func makeProof() -> Proof {
        let identity = FileIdentity(of: self.file)
        if self.sentinel?.identity != identity { self.sentinel = self.makeSentinel(identity) }
        if let proof = self.proofByHeader(identity) { return proof }
        let stamp = FileStamp(of: self.file)
        if stamp != self.lastProof?.stamp {
            // A process that has opened the file for writing since may have made a wal-index.
            self.sentinel = self.makeSentinel(identity)
            if let proof = self.proofByHeader(identity) { return proof }
        }
        return Proof(
            identity: identity, tag: nil, stamp: stamp, isSettled: stamp.isSettled(at: Date().timeIntervalSince1970))
    }

    private func proofByHeader(_ identity: FileIdentity) -> Proof? {
        self.sentinel?.database.connection.walIndex().map { Proof(identity: identity, tag: $0.tag(), stamp: nil) }
    }

    private func makeSentinel(_ identity: FileIdentity) -> (Database, FileIdentity)? {
        guard BystanderReader.sharesLog(self.file),
            let connection = try? Connection(path: self.file.path, access: .sharedReader)
        else { return nil }
        let database = Database(connection)
        // A connection maps the header with its first read.
        guard (try? database.connection.integer("SELECT count(*) FROM clock")) != nil,
            FileIdentity(of: self.file) == identity
        else { return nil }
        return (database, identity)
    }
}

extension CircuitStore {
    /// A watch over the file, for a store that was opened to be read.
    package func watch() -> ChangeWatch { ChangeWatch(self.backend.file, self.configuration.clock) }
}
