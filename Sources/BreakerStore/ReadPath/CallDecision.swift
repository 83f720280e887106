import CBreakerStore

/// The decision about a call, in three words: from the cache, or from a read of the file.
struct CallDecision {
    enum Kind: UInt64 {
        case unknown
        /// The call goes through, and a success reports nothing.
        case proceed
        /// The same, and the duration of the call is measured.
        case proceedMeasured
        /// Under the consecutive rule, while no failures are stored.
        ///
        /// If a process commits during the call, the circuit is read again at the call's end. The success is reported
        /// only if there are failures by then.
        case proceedWithoutFailures
        /// Under the consecutive rule, while failures are stored: a success is reported, so that they are forgotten.
        case proceedWithFailures
        case open, heldOpen, heldClosed
        /// An observing circuit lets the call through that an enforcing one would refuse.
        case observe
        /// Refused because all slots are taken; not cached, because only the kernel knows whether the probers live.
        case probing
        /// A commit must decide, for each call.
        case claim
    }

    var raw: bs_decision

    init(raw: bs_decision) { self.raw = raw }

    /// - Parameter until: the uptime at which the decision expires; `Uptime.max` for never.
    init(_ kind: Kind, epoch: Epoch, until: Uptime) {
        self.raw = bs_decision(
            verdict: kind.rawValue,
            epoch: UInt64(bitPattern: epoch.rawValue),
            until: UInt64(bitPattern: until.microseconds)
        )
    }

    /// - Parameters:
    ///   - answer: the answer of the state machine.
    ///   - hasFailures: whether there are failures that a success would forget.
    ///   - uptime: converts a store time to an uptime.
    init(_ answer: Circuit.Answer, of circuit: Circuit, hasFailures: Bool, uptime: (StoreTime) -> Uptime) {
        let (kind, end): (Kind, StoreTime?) =
            switch answer {
            case .proceed where circuit.rules.isConsecutive:
                (hasFailures ? .proceedWithFailures : .proceedWithoutFailures, nil)
            case .proceed: (circuit.rules.slow == nil ? .proceed : .proceedMeasured, nil)
            case .uncounted: (.heldClosed, circuit.hold?.until)
            case .refuse(.open, let until): (.open, until)
            case .refuse(.held, let until): (.heldOpen, until)
            case .refuse(.probing, let until): (.probing, until)
            case .observe(let until): (.observe, until)
            case .claim: (.claim, nil)
            }
        self.init(kind, epoch: circuit.epoch, until: end.map(uptime) ?? .max)
    }

    /// Whether the circuit is closed and counts the call.
    var isClosed: Bool {
        switch self.kind {
        case .proceed, .proceedMeasured, .proceedWithoutFailures, .proceedWithFailures: true
        case .unknown, .open, .heldOpen, .heldClosed, .observe, .probing, .claim: false
        }
    }

    /// Whether the decision may be cached for the next call.
    var mayBeCached: Bool { self.kind != .probing && self.kind != .claim }

    /// Whether the decision has expired.
    ///
    /// - Parameter uptime: read only if the decision expires.
    func isOver(at uptime: @autoclosure () -> Uptime) -> Bool { self.until != .max && self.until <= uptime() }

    /// Whether the decision is `proceed`: one comparison, for the calls that must be fast.
    @inline(__always) var isProceed: Bool { self.raw.verdict == Kind.proceed.rawValue }
    @inline(__always) var isProceedWithoutFailures: Bool { self.raw.verdict == Kind.proceedWithoutFailures.rawValue }
    @inline(__always) var kind: Kind { Kind(rawValue: self.raw.verdict) ?? .unknown }
    var epoch: Epoch { Epoch(Int64(bitPattern: self.raw.epoch)) }
    var until: Uptime { Uptime(microseconds: Int64(bitPattern: self.raw.until)) }
}
