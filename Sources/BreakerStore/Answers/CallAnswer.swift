import CBreakerStore

/// The answer to a call, in three words: a kept answer, or the answer of a look.
struct CallAnswer {
    enum Kind: UInt64 {
        case unknown
        /// The call goes through, and a success reports nothing.
        case proceed
        /// The same, and the duration of the call is measured.
        case proceedMeasured
        /// The consecutive rule, without failures: none are stored.
        ///
        /// At the call's end the circuit is looked at again, if a process has committed meanwhile. The success is
        /// reported only if there are failures by then.
        case proceedWithoutFailures
        /// The consecutive rule, with failures: a success is reported, so that the failures are forgotten.
        case proceedWithFailures
        case open, heldOpen, heldClosed
        /// An observing circuit lets the call through, but would refuse it if it enforced.
        case observe
        /// Refused because of probes; not kept, because only the kernel knows whether the probers live.
        case probing
        /// A commit must decide each time.
        case claim
    }

    var raw: bs_answer

    init(raw: bs_answer) { self.raw = raw }

    /// - Parameter until: the uptime in microseconds at which the answer ends; `Int64.max` for never.
    init(_ kind: Kind, epoch: Int64, until: Int64) {
        self.raw = bs_answer(
            verdict: kind.rawValue,
            epoch: UInt64(bitPattern: epoch),
            until: UInt64(bitPattern: until)
        )
    }

    /// - Parameters:
    ///   - answer: the answer of the machine.
    ///   - hasFailures: whether there are failures that a success would forget.
    ///   - uptime: converts a store time to an uptime.
    init(_ answer: Circuit.Answer, of circuit: Circuit, hasFailures: Bool, uptime: (StoreTime) -> Int64) {
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

    /// Whether the circuit is closed, and calls count.
    var isClosed: Bool {
        switch self.kind {
        case .proceed, .proceedMeasured, .proceedWithoutFailures, .proceedWithFailures: true
        case .unknown, .open, .heldOpen, .heldClosed, .observe, .probing, .claim: false
        }
    }

    /// Whether the answer may be kept for the next call.
    var mayBeKept: Bool { self.kind != .probing && self.kind != .claim }

    /// Whether the answer's time is over.
    ///
    /// - Parameter uptime: read only if the answer ends.
    func isOver(at uptime: @autoclosure () -> Int64) -> Bool { self.until != .max && self.until <= uptime() }

    /// Whether the answer is `proceed`: one comparison, for the calls that must be fast.
    @inline(__always) var isProceed: Bool { self.raw.verdict == Kind.proceed.rawValue }
    @inline(__always) var isProceedWithoutFailures: Bool { self.raw.verdict == Kind.proceedWithoutFailures.rawValue }
    @inline(__always) var kind: Kind { Kind(rawValue: self.raw.verdict) ?? .unknown }
    var epoch: Int64 { Int64(bitPattern: self.raw.epoch) }
    var until: Int64 { Int64(bitPattern: self.raw.until) }
}
