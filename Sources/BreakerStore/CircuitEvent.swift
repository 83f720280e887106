#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One thing that happened to a circuit, or to the store.
public struct CircuitEvent: Sendable, Hashable, Identifiable, CustomStringConvertible {
    /// What happened.
    ///
    /// Open: later versions and other programs know other kinds, which are handed over as they are.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        /// The word that stands in the file.
        public var rawValue: String

        /// A kind by its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word itself.
        public var description: String { self.rawValue }

        /// A circuit was registered with another configuration than the stored one.
        ///
        /// The first registration of a circuit is no event.
        public static let configured = Kind(rawValue: "configured")
        /// A closed circuit opened.
        public static let tripped = Kind(rawValue: "tripped")
        /// An open circuit became half-open.
        public static let probing = Kind(rawValue: "probing")
        /// A probe took longer than its lease.
        public static let probeExpired = Kind(rawValue: "probeExpired")
        /// A probe failed, and the circuit opened again.
        public static let reopened = Kind(rawValue: "reopened")
        /// Enough probes succeeded, and the circuit closed.
        public static let closed = Kind(rawValue: "closed")
        /// Somebody closed the circuit, and its failures were forgotten.
        public static let reset = Kind(rawValue: "reset")
        /// Somebody held the circuit.
        public static let held = Kind(rawValue: "held")
        /// A hold was taken off, or its time was over.
        public static let released = Kind(rawValue: "released")
        /// Somebody let the probes of an open circuit through before its time.
        public static let probeAllowed = Kind(rawValue: "probeAllowed")
        /// The circuit was removed from the store.
        public static let forgotten = Kind(rawValue: "forgotten")
        /// The file could not be used, and calls were guarded in memory; the reason says why.
        ///
        /// It is written when the file is back, just before `restored`; ``CircuitStore/health`` tells at once.
        public static let degraded = Kind(rawValue: "degraded")
        /// The file can be used again; the reason says after how long.
        public static let restored = Kind(rawValue: "restored")
        /// A corrupt file was moved aside, and the store began anew.
        public static let quarantined = Kind(rawValue: "quarantined")
        /// Events were lost to a slow reader.
        public static let missed = Kind(rawValue: "missed")
    }

    /// The event's number in the file; later ones have higher numbers.
    public var id: Int64
    /// The circuit's name; nil when it is about the store.
    public var circuit: String?
    /// What happened.
    public var kind: Kind
    /// When it happened.
    public var at: Date
    /// The state before: `closed`, `open`, `half-open`, `held-open` or `held-closed`; nil where there was none.
    ///
    /// Both states are the same in an event of the kind `configured`, whose reason tells what has changed.
    public var from: String?
    /// The state after, by the same words; nil where there is none.
    public var to: String?
    /// Why, in words.
    public var reason: String?
    /// The name of the worker that did it.
    public var worker: String?
    /// That worker's process.
    public var pid: Int32?
    /// Who did it, as they said.
    public var by: String?
    /// Whether this store did it.
    public var isOwn: Bool
    /// Whose probe's slot it was, as `worker[pid]`, or who had put on the hold that ended; nil where nobody is known.
    public var subject: String?

    /// Creates an event, as a test may need one.
    public init(
        id: Int64, circuit: String? = nil, kind: Kind, at: Date, from: String? = nil, to: String? = nil,
        reason: String? = nil, worker: String? = nil, pid: Int32? = nil, by: String? = nil, isOwn: Bool = false,
        subject: String? = nil
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
        self.subject = subject
    }

    /// One line: when, what befell which circuit, who did it and why.
    public var description: String {
        var text = "\(self.at) \(self.kind.rawValue.escaped)"
        if let circuit = self.circuit { text += " \(circuit.quoted)" }
        if let by = self.by { text += " by \(by.escaped)" }
        if let reason = self.reason { text += ": \(reason.escaped)" }
        return text
    }
}
