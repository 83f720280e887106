#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event of a circuit, or of the store.
public struct CircuitEvent: Sendable, Hashable, Identifiable, CustomStringConvertible {
    /// The kind of an event.
    ///
    /// Open: kinds of later versions and other programs are passed on unchanged.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        /// The kind's word in the file.
        public var rawValue: String

        /// Creates a kind from its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word itself.
        public var description: String { self.rawValue }

        /// A circuit was registered with a configuration other than the stored one.
        ///
        /// The first registration of a circuit makes no event.
        public static let configured = Kind(rawValue: "configured")
        /// A closed circuit opened.
        public static let tripped = Kind(rawValue: "tripped")
        /// An open circuit stays open for longer: the provider has declared an outage that ends later.
        public static let extended = Kind(rawValue: "extended")
        /// An open circuit became half-open.
        public static let probing = Kind(rawValue: "probing")
        /// A probe took longer than its lease; ``CircuitEvent/subject`` is the process that had the slot.
        public static let probeExpired = Kind(rawValue: "probeExpired")
        /// The process of a probe ended before it reported; ``CircuitEvent/subject`` is that process.
        ///
        /// The next call that asks for a slot finds that, and makes the event.
        public static let proberDied = Kind(rawValue: "proberDied")
        /// A probe failed, and the circuit opened again.
        public static let reopened = Kind(rawValue: "reopened")
        /// Enough probes succeeded, and the circuit closed.
        public static let closed = Kind(rawValue: "closed")
        /// An operator closed the circuit, which forgot its failures.
        public static let reset = Kind(rawValue: "reset")
        /// An operator held the circuit.
        public static let held = Kind(rawValue: "held")
        /// An operator released a hold, or its time was over.
        public static let released = Kind(rawValue: "released")
        /// An operator let the probes of an open circuit through before its time.
        public static let probeAllowed = Kind(rawValue: "probeAllowed")
        /// The circuit was removed from the store.
        public static let forgotten = Kind(rawValue: "forgotten")
        /// The file could not be used, so the in-memory fallback decided about calls; the reason says why.
        ///
        /// The event is written when the file is back, just before `restored`; ``CircuitStore/health`` changes at once.
        public static let degraded = Kind(rawValue: "degraded")
        /// The file can be used again; the reason says after how long.
        public static let restored = Kind(rawValue: "restored")
        /// A corrupt file was moved aside, and the store began again with an empty file.
        public static let quarantined = Kind(rawValue: "quarantined")
        /// The file was created in place of a lost one, by this worker or a moment before; the reason says what was
        /// lost, where its bytes are kept, and what this worker has restored.
        ///
        /// A worker that came too late to restore anything makes this event, too; the reason lists what it knew.
        public static let created = Kind(rawValue: "created")
        /// A worker has restored a circuit's state or hold from a lost file; the reason says which, and as of when.
        ///
        /// ``CircuitEvent/subject`` is the operator of a restored hold.
        public static let stateRestored = Kind(rawValue: "stateRestored")
        /// A reader has missed events, which the file no longer keeps, or is about to get events again.
        ///
        /// They come again if the file has returned to an earlier state, as a restored backup has: the reason says so.
        public static let missed = Kind(rawValue: "missed")
    }

    /// The event's number in the file; later events have higher numbers.
    public var id: Int64
    /// The circuit's name; nil when the event is about the store.
    public var circuit: String?
    /// The kind of the event.
    public var kind: Kind
    /// When the event happened.
    ///
    /// The end of a hold's time is an event of the worker that writes to the circuit next, and has the time of that
    /// commit; the reason says how long before that the hold ended.
    public var at: Date
    /// The state before: `closed`, `open`, `half-open`, `held-open` or `held-closed`; nil where there was none.
    ///
    /// Both states are the same in an event of the kind `configured`, whose reason lists the changes.
    public var from: String?
    /// The state after, in the same words; nil where there is none.
    public var to: String?
    /// The reason, as a text for people.
    public var reason: String?
    /// The name of the worker that made the event.
    public var worker: String?
    /// That worker's process.
    public var pid: Int32?
    /// The operator's name, as given.
    public var by: String?
    /// Whether this process made the event, by any of its stores.
    public var isOwn: Bool
    /// How many calls have failed since the circuit's previous change of state.
    ///
    /// The failures that tripped a circuit are among those of the open state that follows. Nil if the event changes no
    /// state, and where counts were lost.
    public var failed: UInt64?
    /// How many calls were refused since the circuit's previous change of state; nil as ``failed`` is.
    ///
    /// Workers publish refusals about each second: the last ones are in the next event's number.
    public var refused: UInt64?
    /// The owner of the probe's slot, as `worker[pid]`, or the operator of the hold that the event ended, replaced or
    /// restored; nil if unknown, and for other events.
    public var subject: String?

    /// Creates an event for tests.
    public init(
        id: Int64, circuit: String? = nil, kind: Kind, at: Date, from: String? = nil, to: String? = nil,
        reason: String? = nil, worker: String? = nil, pid: Int32? = nil, by: String? = nil, isOwn: Bool = false,
        failed: UInt64? = nil, refused: UInt64? = nil, subject: String? = nil
    ) {
        self.id = id
        self.circuit = circuit
        self.kind = kind
        self.at = at
        self.from = from
        self.to = to
        self.reason = reason
        self.worker = worker
        self.pid = pid
        self.by = by
        self.isOwn = isOwn
        self.failed = failed
        self.refused = refused
        self.subject = subject
    }

    /// One line: time, kind, circuit, operator and reason.
    public var description: String {
        var text = "\(self.at) \(self.kind.rawValue.escaped)"
        if let circuit = self.circuit { text += " \(circuit.quoted)" }
        if let by = self.by { text += " by \(by.escaped)" }
        if let reason = self.reason { text += ": \(reason.escaped)" }
        return text
    }
}
