/// A circuit as a link reads it from the file.
///
/// All times are durations in microseconds, so that no clock of this host is ever compared with another host's.
package struct LinkedCircuit: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        case closed
        /// Calls are refused for `left` from now; 0 if the circuit admits probes.
        case open(left: Int64)
        case halfOpen
        /// A state that only a later release knows.
        case unknown
    }

    /// A rule that counts single failures.
    package struct Counting: Sendable, Hashable {
        package var failures: Int
        /// Nil for a rule about failures in a row.
        package var window: Int64?

        package init(failures: Int, window: Int64?) {
            self.failures = failures
            self.window = window
        }
    }

    /// A failure-rate or slow-call rule.
    package struct Rate: Sendable, Hashable {
        package var share: Double
        package var minimumCalls: Int
        package var window: Int64

        package init(share: Double, minimumCalls: Int, window: Int64) {
            self.share = share
            self.minimumCalls = minimumCalls
            self.window = window
        }
    }

    /// The calls of this host within a rule's window.
    package struct Sum: Sendable, Hashable {
        package var calls: Int64
        /// The calls that failed, or were slow.
        package var bad: Int64

        package init(calls: Int64, bad: Int64) {
            self.calls = calls
            self.bad = bad
        }
    }

    /// Identifies a failure: no two failures of any hosts have the same key.
    package struct Key: Sendable, Hashable {
        package var worker: WorkerID
        package var number: Int64

        package init(worker: WorkerID, number: Int64) {
            self.worker = worker
            self.number = number
        }
    }

    package struct Failure: Sendable, Hashable {
        package var key: Key
        package var age: Int64

        package init(key: Key, age: Int64) {
            self.key = key
            self.age = age
        }
    }

    package struct Hold: Sendable, Hashable {
        package var state: HoldState
        package var age: Int64
        /// How long the hold still lasts; nil until an operator releases it.
        package var left: Int64?
        package var by: String?
        package var reason: String?

        package init(state: HoldState, age: Int64, left: Int64? = nil, by: String? = nil, reason: String? = nil) {
            self.state = state
            self.age = age
            self.left = left
            self.by = by
            self.reason = reason
        }
    }

    package struct Event: Sendable, Hashable {
        package var kind: CircuitEvent.Kind
        package var age: Int64
        package var by: String?

        package init(kind: CircuitEvent.Kind, age: Int64, by: String? = nil) {
            self.kind = kind
            self.age = age
            self.by = by
        }
    }

    package var name: String
    /// Increases with each transition.
    package var epoch: Epoch
    package var state: State
    /// The hold that is in force.
    package var hold: Hold?
    package var tripsInARow: Int
    /// How many probes are running; their outcomes decide whether a half-open circuit closes.
    package var liveProbes: Int
    /// Nil where no rule counts single failures.
    package var counting: Counting?
    package var failureRate: Rate?
    package var slowRate: Rate?
    package var isObserving: Bool
    /// How long the circuit would stay open if it tripped now, without jitter.
    package var recovery: Int64
    /// The longest time for which the circuit may stay open.
    package var longestRecovery: Int64
    /// The failures that count, oldest first.
    package var failures: [Failure]
    package var failed: Sum?
    package var slow: Sum?
    /// How many calls were refused since the circuit was created in the file.
    package var refusals: UInt64
    package var lastError: String?
    /// The newest transition of the state, apart from holds.
    package var transition: Event?
    /// The trip that began the outage; nil without an outage, or if the history no longer has the trip.
    package var trip: Event?
    /// The newest command of each kind about the circuit, from operators of all hosts.
    package var commands: [OperatorCommand]

    package init(
        name: String, epoch: Epoch, state: State, hold: Hold? = nil, tripsInARow: Int = 0, liveProbes: Int = 0,
        counting: Counting? = nil,
        failureRate: Rate? = nil, slowRate: Rate? = nil, isObserving: Bool = false, recovery: Int64,
        longestRecovery: Int64, failures: [Failure] = [], failed: Sum? = nil, slow: Sum? = nil, refusals: UInt64 = 0,
        lastError: String? = nil, transition: Event? = nil, trip: Event? = nil, commands: [OperatorCommand] = []
    ) {
        self.name = name
        self.epoch = epoch
        self.state = state
        self.hold = hold
        self.tripsInARow = tripsInARow
        self.liveProbes = liveProbes
        self.counting = counting
        self.failureRate = failureRate
        self.slowRate = slowRate
        self.isObserving = isObserving
        self.recovery = recovery
        self.longestRecovery = longestRecovery
        self.failures = failures
        self.failed = failed
        self.slow = slow
        self.refusals = refusals
        self.lastError = lastError
        self.transition = transition
        self.trip = trip
        self.commands = commands
    }

    package func command(_ kind: OperatorCommand.Kind) -> OperatorCommand? { self.commands.first { $0.kind == kind } }

    /// Whether this host itself has tripped the circuit.
    package var isOwnTrip: Bool { self.trip.map { !LinkOrder.isOfFleet($0.by) } ?? false }
}
