#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a link says of its file, and asks of its store.
extension CircuitStore {
    /// The same for all links of this file on this machine, and another one for each other place.
    ///
    /// The lock file stays when the database is set aside and made anew.
    package var linkPlace: String {
        let number = FoundFile(self.backend.file.lock)?.number
        return "\(self.configuration.clock.bootID) \(number.map { "\($0.device):\($0.inode)" } ?? self.path)"
    }

    /// The file's own number, by which the server tells hosts apart; nil in a file that was just made by hand.
    package func linkFileNumber() throws(BreakerStoreError) -> Int64? {
        try self.view { (view) throws(BreakerStoreError) in try ClockRow.read(view.database)?.birth }
    }

    /// By which people know the process that a link runs in.
    package var linkProgram: String {
        "\(self.configuration.workerName ?? Worker.processName) (\(getpid())), BreakerFleet \(Versions.library)"
    }

    /// Has the store see each second whether its file is in its place, as it does while circuits are used.
    package func linkBegan() { self.backend.core?.happened { $0.linkBegan() } }

    /// Whether a link can do anything with this store: to one that is only read it can't.
    package var mayBeLinked: Bool { self.backend.core != nil }

    /// For how long a circuit may be unused before it is forgotten, in microseconds; nil for ever.
    package var forgetIdleTime: Int64? { self.configuration.forgetIdleAfter?.saturatingMicroseconds }
}
