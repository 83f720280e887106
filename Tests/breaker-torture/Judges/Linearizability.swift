/// Whether calls that overlapped have an order in which one machine, asked one after the other, gives their answers.
///
/// The search is that of Wing and Gong ("Testing and verifying concurrent objects", 1993): it takes one of the calls
/// that may come first, asks the machine, and goes on with the rest. It remembers from where it has searched in vain
/// (Lowe, "Testing for linearizability", 2017). It knows nothing of circuits.
struct Linearizability<State: Hashable, Event> {
    struct Call {
        var begin: Int64
        /// `.max` if the call was not seen to end.
        var end: Int64
        /// An uncertain call happened once or never, and nobody knows its answer.
        var isCertain = true
        /// Whether the call leaves every state as it is.
        var isRead = false
        /// The call of the same history that has to come before this one.
        var after: Int?
        var event: Event
    }

    enum Verdict: Equatable {
        case explained, unexplained
        /// The search has taken too many steps, or there are too many calls.
        case undecided
    }

    private struct Point: Hashable {
        var done: CallSet
        var state: State
    }

    static var maxCalls: Int { CallSet.size }
    private static var maxPoints: Int { 50_000 }

    private let calls: [Call]
    /// All states in which the machine may be after an event; none if the answer is impossible.
    private let step: (State, Event) -> [State]
    /// The certain calls, by their ends, then the uncertain ones: mostly the right order.
    ///
    /// So of the calls that are left the first one is that which ended first.
    private let order: [Int]
    private var seen: Set<Point> = []
    private var path: [Int] = []
    /// How many uncertain calls an order may have, and whether that has cut the search short.
    private var maxUncertain = 0
    private var isCut = false
    /// The most calls that could be put in order, and the state after them.
    private(set) var longest: (path: [Int], state: State)

    init(_ calls: [Call], from state: State, step: @escaping (State, Event) -> [State]) {
        self.calls = calls
        self.step = step
        self.longest = ([], state)
        self.order = calls.indices.sorted {
            (calls[$0].isCertain ? 0 : 1, calls[$0].end, $0) < (calls[$1].isCertain ? 0 : 1, calls[$1].end, $1)
        }
    }

    /// How many points the search has come to.
    private(set) var points = 0

    mutating func search() -> Verdict {
        guard self.calls.count <= Self.maxCalls else { return .undecided }
        let start = Point(done: CallSet(), state: self.longest.state)
        // Mostly few of the uncertain calls are needed. All at once they would multiply the orders.
        repeat {
            self.isCut = false
            self.seen = []
            if self.search(from: start, lastBegin: .min, uncertain: 0) { return .explained }
            self.maxUncertain += 1
        } while self.isCut && self.points < Self.maxPoints
        return self.points < Self.maxPoints ? .unexplained : .undecided
    }

    /// - Parameter lastBegin: the latest begin of the calls that are done.
    private mutating func search(from point: Point, lastBegin: Int64, uncertain: Int) -> Bool {
        let open = self.order.filter { !point.done.contains($0) }
        // No call comes after one that began only when the former had ended.
        guard let first = open.first, self.calls[first].isCertain else { return true }
        let firstEnd = self.calls[first].end
        guard self.points < Self.maxPoints, self.seen.insert(point).inserted else { return false }
        self.points += 1
        if self.path.count > self.longest.path.count { self.longest = (self.path, point.state) }
        for index in open {
            let call = self.calls[index]
            guard call.begin <= firstEnd, call.end >= lastBegin, call.after.map(point.done.contains) ?? true
            else { continue }
            let states = self.step(point.state, call.event)
            // An uncertain call that changes nothing need not come at all.
            if !call.isCertain, states == [point.state] { continue }
            if !call.isCertain, !states.isEmpty, uncertain == self.maxUncertain {
                self.isCut = true
                continue
            }
            // A read that fits may as well come at once, unless an uncertain call could come no more then.
            let isFinal =
                call.isRead && !states.isEmpty
                && !open.contains { !self.calls[$0].isCertain && self.calls[$0].end < call.begin }
            var next = point
            next.done.insert(index)
            self.path.append(index)
            defer { self.path.removeLast() }
            for state in states {
                next.state = state
                let isFound = self.search(
                    from: next, lastBegin: max(lastBegin, call.begin), uncertain: uncertain + (call.isCertain ? 0 : 1))
                if isFound { return true }
            }
            if isFinal { return false }
        }
        return false
    }
}

extension Linearizability.Call: Sendable where State: Sendable, Event: Sendable {}

/// Some of the calls of a history, by their numbers.
private struct CallSet: Hashable {
    static let size = 128

    private var low: UInt64 = 0
    private var high: UInt64 = 0

    func contains(_ number: Int) -> Bool {
        (number < 64 ? self.low >> UInt64(number) : self.high >> UInt64(number - 64)) & 1 == 1
    }

    mutating func insert(_ number: Int) {
        if number < 64 { self.low |= 1 << UInt64(number) } else { self.high |= 1 << UInt64(number - 64) }
    }
}
