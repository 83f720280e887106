extension CircuitStore {
    /// What opening does with a file of an older schema.
    public enum Migration: Sendable, Hashable {
        /// Opening migrates the file to the schema of this release, for good.
        case automatic
        /// Opening throws `olderSchema`, and does not change the file.
        case never
    }

    /// How a process uses its store; not stored in the file.
    ///
    /// Opening a store validates the configuration.
    public struct Configuration: Sendable {
        /// How long a report or an operator's change may wait for the file: above zero, at most one hour.
        ///
        /// The default is 250 ms.
        public var busyTimeout: Duration = .milliseconds(250)

        /// Which crashes an acknowledged change survives.
        ///
        /// The default is `.transitions`.
        public var durability: Durability = .transitions

        /// What opening does when the file can't be used; an open store never fails a call because of the file.
        ///
        /// The default is `.throwError`.
        public var whenUnavailable: WhenUnavailable = .throwError

        /// What the store may do to the file.
        ///
        /// The default is `.readWrite`.
        public var access: Access = .readWrite

        /// The permissions of a file that the store creates, within 0o777 and with 0o600.
        ///
        /// The default is 0o600.
        public var fileMode: UInt16 = 0o600

        /// How many events are kept of each circuit: 1 to 1,000,000.
        ///
        /// The file has up to 63 older events of a circuit, but at most an eighth of this number.
        ///
        /// The default is 1,000.
        public var eventsKept: Int = 1_000

        /// After how long an unheld circuit that no live worker has registered any more is removed: above zero, at most
        /// a hundred years; nil removes no circuit.
        ///
        /// It must be closed, or open with its recovery time over for as long: such a circuit refuses nobody.
        ///
        /// The time counts from the circuit's last use; a living process keeps a circuit for at least a minute after
        /// its last handle has gone. Its history is removed when no event has been added for as long. The default is
        /// nil.
        public var forgetIdleAfter: Duration? = nil

        /// The name of this process for other processes: 1 to 200 characters, no control characters; nil for the
        /// process's name.
        ///
        /// The default is nil.
        public var workerName: String? = nil

        /// Called once for each event, on a thread of its own.
        ///
        /// Every process with such a hook calls it: work that must be done once, such as paging an operator, depends on
        /// ``CircuitEvent/isOwn``. A hook that blocks holds up no call.
        ///
        /// `close()` waits until the hook has handled all events of before the close, but for at most `busyTimeout`: a
        /// slower hook handles the rest later. A hook that calls `close()` itself waits for itself: start a task that
        /// closes the store. A process that is killed, or exits without `close()`, may never call the hook for its
        /// newest events; the history has them. The default is nil.
        public var onEvent: (@Sendable (CircuitEvent) -> Void)? = nil

        /// Called for each change of health as it happens, on a thread of its own; the last is `closed`.
        ///
        /// A store that begins degraded calls the hook at once. A hook that blocks holds up no call. The default is
        /// nil.
        public var onHealth: (@Sendable (StoreHealth) -> Void)? = nil

        /// The clock; all processes on a file need the same clock.
        ///
        /// The default is `SystemHostClock()`.
        public var clock: any HostClock = SystemHostClock()

        /// Whether the store may migrate a file of an older schema.
        ///
        /// With `.never` a store opens files of this release's schema and of later minor versions, and creates new
        /// files. A file of an older schema, even of an older minor version, throws `olderSchema` and stays as it is.
        /// A store that may degrade then begins in memory, and uses the file once another process has migrated it:
        /// <doc:RunningWorkersOnAHost#Planning-a-migration>. The default is `.automatic`.
        public var migration: Migration = .automatic

        /// The least time that opening waits for other processes, unless it may degrade the store.
        ///
        /// The default is 10 s.
        package var openingPatience: Duration = Opening.patience

        /// Whether the store ever syncs; false where the file is deleted on close.
        var syncs = true

        /// How long opening waits for other processes.
        ///
        /// A service that can go on without the file does not wait longer at its start than in a call.
        var patience: Duration {
            switch self.whenUnavailable {
            case .throwError: max(self.busyTimeout, self.openingPatience)
            case .degrade: self.busyTimeout
            }
        }

        /// How long the store waits after the first attempt to bring the file back; twice as long after each further
        /// attempt, at most 1 s.
        ///
        /// The default is 50 ms.
        package var firstRetry: Duration = .milliseconds(50)

        /// Creates a configuration with the defaults.
        public init() {}

        func validate() throws(BreakerStoreError) {
            try Validation.duration(self.busyTimeout, atMost: .seconds(3_600), "busyTimeout")
            guard self.fileMode & ~0o777 == 0, self.fileMode & 0o600 == 0o600 else {
                throw Validation.error(
                    "fileMode", "0o" + String(self.fileMode, radix: 8), allowed: "within 0o777, containing 0o600")
            }
            try Validation.count(self.eventsKept, in: 1...1_000_000, "eventsKept")
            if let idle = self.forgetIdleAfter { try Validation.duration(idle, "forgetIdleAfter") }
            if let workerName = self.workerName { try Validation.text(workerName, "workerName") }
        }
    }
}
