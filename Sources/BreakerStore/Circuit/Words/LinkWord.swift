/// An operator's word on a circuit: an order that was given on this host or on another.
///
/// On all hosts, the newest word of each kind counts. Hosts have no common clock, so the link of the host where a word
/// was said stamps the word with the server's time.
package struct LinkWord: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// A hold, or the release of one.
        case hold
        case reset
        /// An open circuit may be probed now.
        case probe
    }

    /// Orders the words of one kind: a Lamport timestamp, based on the server's clock, with a tie-breaker.
    package struct Stamp: Sendable, Hashable, Comparable {
        /// In microseconds of the server's clock; always above the newest stamp that the host knew of.
        package var saidAt: Int64
        /// Decides between words of the same time: no two words have the same number.
        package var number: Int64

        package init(saidAt: Int64, number: Int64) {
            self.saidAt = saidAt
            self.number = number
        }

        package static func < (left: Stamp, right: Stamp) -> Bool {
            (left.saidAt, left.number) < (right.saidAt, right.number)
        }
    }

    /// The highest stamp of a row; a higher stamp is damage, whatever the server's clock says.
    package static let latest: Int64 = 1 << 53
    /// The stamps that may be shared through a server; the range leaves room above for the stamps of later words.
    package static let sendable = 0...(Self.latest - 1 << 20)
    /// How far a stamp may lie ahead of the server's clock, in microseconds: a year.
    ///
    /// A stamp lies ahead if the server's clock was set back, and after many words at once. The clock of a server may
    /// be wrong by days or months until it is set, and meanwhile no word must be lost.
    package static let longestLead: Int64 = 31_622_400_000_000

    /// The stamps that are compared while the server's clock shows `serverTime`.
    ///
    /// Any other stamp is damage: no host takes over or sends its word, and each later word takes the word's place.
    /// Else a stamp near the upper bound of `sendable` would leave no room for the stamps of later words.
    package static func credibleStamps(at serverTime: Int64) -> ClosedRange<Int64> {
        0...min(max(0, serverTime).addingSaturating(Self.longestLead), Self.sendable.upperBound)
    }

    package var kind: Kind
    package var number: Int64
    /// Nil until the host's link has stamped the word.
    package var saidAt: Int64?
    /// The word is later than all words with stamps up to this stamp, since its host had obeyed them.
    package var floor: Int64
    package var age: Int64
    /// Nil for a release, and for a word of another kind.
    package var hold: HoldState?
    /// How long the hold lasts in all; nil for until it is released.
    package var holdFor: Int64?
    package var by: String?
    package var reason: String?

    package init(
        kind: Kind, number: Int64 = 0, saidAt: Int64? = nil, floor: Int64 = 0, age: Int64 = 0, hold: HoldState? = nil,
        holdFor: Int64? = nil, by: String? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.number = number
        self.saidAt = saidAt
        self.floor = floor
        self.age = age
        self.hold = hold
        self.holdFor = holdFor
        self.by = by
        self.reason = reason
    }

    package var stamp: Stamp? { self.saidAt.map { Stamp(saidAt: $0, number: self.number) } }

    /// The same word, older by `passed`.
    package func later(by passed: Int64) -> LinkWord {
        var later = self
        later.age = self.age.addingSaturating(passed)
        return later
    }

    /// How long the hold still lasts; nil for until it is released.
    package var left: Int64? { self.holdFor.map { max(0, $0.subtractingSaturating(self.age)) } }
}
