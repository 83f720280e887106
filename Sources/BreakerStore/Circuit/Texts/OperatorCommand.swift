/// An operator's command for a circuit, with a Lamport timestamp; given on this host or on another.
///
/// On all hosts the newest command of each kind counts. Hosts have no common clock, so the link of the host where a
/// command was given stamps it with the server's time.
package struct OperatorCommand: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// A hold, or the release of one.
        case hold
        case reset
        /// An open circuit may be probed now.
        case probe
    }

    /// Orders the commands of one kind: a Lamport timestamp, based on the server's clock, with a tie-breaker.
    package struct Stamp: Sendable, Hashable, Comparable {
        /// In microseconds of the server's clock; always above the newest stamp that the host knew of.
        package var lamportTime: Int64
        /// The tie-breaker between commands of the same time: no two commands have the same number.
        package var number: Int64

        package init(lamportTime: Int64, number: Int64) {
            self.lamportTime = lamportTime
            self.number = number
        }

        package static func < (left: Stamp, right: Stamp) -> Bool {
            (left.lamportTime, left.number) < (right.lamportTime, right.number)
        }
    }

    /// The highest Lamport time of a row; a higher stamp is damage, whatever the server's clock says.
    package static let latest: Int64 = 1 << 53
    /// The Lamport times that may be shared through a server; the range leaves room above for the stamps of later
    /// commands.
    package static let sendable = 0...(Self.latest - (1 << 20))
    /// How far a stamp may lie ahead of the server's clock, in microseconds: a year.
    ///
    /// A stamp lies ahead if the server's clock was set back, and after many commands at once. The clock of a server
    /// may be wrong by days or months until it is set; until then no command may be lost.
    package static let maxLead: Int64 = 31_622_400_000_000

    /// The stamps that are compared while the server's clock shows `serverTime`.
    ///
    /// Any other stamp is damage: no host applies or sends its command, and any later command replaces it. Otherwise a
    /// stamp near the upper bound of `sendable` would leave no room for the stamps of later commands.
    package static func credibleStamps(at serverTime: Int64) -> ClosedRange<Int64> {
        0...min(max(0, serverTime).addingSaturating(Self.maxLead), Self.sendable.upperBound)
    }

    package var kind: Kind
    /// The tie-breaker of the stamp.
    package var number: Int64
    /// Nil until the host's link has stamped the command.
    package var lamportTime: Int64?
    /// The Lamport floor: the newest stamp that the host had applied when the command was given; the command is later
    /// than all up to it.
    package var floor: Int64
    /// The microseconds since the command was given, as of the time when this value was read.
    package var age: Int64
    /// Nil for a release, and for a command of another kind.
    package var hold: HoldState?
    /// How long the hold lasts in all; nil for until it is released.
    package var holdFor: Int64?
    package var by: String?
    package var reason: String?

    package init(
        kind: Kind, number: Int64 = 0, lamportTime: Int64? = nil, floor: Int64 = 0, age: Int64 = 0,
        hold: HoldState? = nil, holdFor: Int64? = nil, by: String? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.number = number
        self.lamportTime = lamportTime
        self.floor = floor
        self.age = age
        self.hold = hold
        self.holdFor = holdFor
        self.by = by
        self.reason = reason
    }

    package var stamp: Stamp? { self.lamportTime.map { Stamp(lamportTime: $0, number: self.number) } }

    /// The same command, older by `passed`.
    package func later(by passed: Int64) -> OperatorCommand {
        var later = self
        later.age = self.age.addingSaturating(passed)
        return later
    }

    /// How long the hold still lasts; nil for until it is released.
    package var left: Int64? { self.holdFor.map { max(0, $0.subtractingSaturating(self.age)) } }
}
