#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Facts about a store and its file that a link needs.
extension CircuitStore {
    /// The file's place: the same text for all links of this file on this machine, and for no other link.
    ///
    /// It names the lock file, which stays when the database is moved aside and created again.
    package var linkPlace: String {
        let number = FoundFile(self.backend.file.lock)?.number
        return "\(self.configuration.clock.bootID) \(number.map { "\($0.device):\($0.inode)" } ?? self.path)"
    }

    /// The file's incarnation, by which the server distinguishes files; nil if the clock's row can't be read.
    package func linkFileNumber() throws(BreakerStoreError) -> Int64? {
        try self.view { (view) throws(BreakerStoreError) in view.incarnation }
    }

    /// The name under which operators see the process of a link.
    package var linkProgram: String {
        "\(self.configuration.workerName ?? Worker.processName) (\(getpid())), BreakerFleet \(Versions.library)"
    }

    /// Makes the store check each second whether its file is still at its path, as it does while circuits are used.
    package func linkBegan() { self.backend.core?.apply { $0.linkBegan() } }

    /// Whether the store can be linked; a read-only store can't.
    package var mayBeLinked: Bool { self.backend.core != nil }

    /// How long a circuit may be unused before it is forgotten, in microseconds; nil for no limit.
    package var forgetIdleTime: Int64? { self.configuration.forgetIdleAfter?.saturatingMicroseconds }
}
