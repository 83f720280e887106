import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `list`: a line for each circuit.
struct ListVerb: Verb {
    static let name = "list"
    static let synopsis = "[PATTERN…]"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "show the circuits, those that refuse calls first"
    static let details = """
        A PATTERN is a circuit's name, or a text with *, ? or [ in it that names match.
        A STATE is open, held-open, half-open, due, held-closed or closed. A circuit
        that is due is open and its recovery time is over: it refuses nobody, and the
        next call is a probe.
        OUTAGE is how long ago the current outage began, SINCE how long it has been in
        its state, TRIPS how often it has tripped within the last hour.
        FAILURES are those that count now, or that tripped the circuit, and
        how many trip it; under a failure-rate rule they are those of the calls within
        its window, from which CALLS/S and FAILED-% are, too. A circuit marked
        (observing) refuses nothing, whatever its state is.
        A terminal shows the columns that it has room for. A name is never cut: one
        that has no room beside the others has a line of its own. If not all rows have
        room, the closed circuits are left out, and a last line counts them; --all and
        --state leave none out.
        --watch redraws a terminal until Ctrl-C; to a pipe or a file it adds a line
        for each change.
        """
    static let watch = Option(
        "watch", "SECONDS", isValueOptional: true, help: "show it again every second, or at that interval")
    static let all = Option("all", help: "also the closed circuits for which a terminal has no room")
    static let options: [Option] = [.state, .group, Self.all, Self.watch, .exact]

    static let nothingWanted = "no circuit has that state and group\n"

    let selection: Selection
    let filter: CircuitFilter
    private let interval: Duration?
    /// Whether a terminal, too, gets the rows of all circuits.
    private let showsAll: Bool

    init(_ arguments: Arguments) throws(Failure) {
        self.selection = try Selection(arguments.operands, isExact: arguments.has(.exact))
        self.filter = try CircuitFilter(states: arguments[.state], group: arguments[.group])
        self.interval = try arguments[Self.watch].map(Self.interval)
        self.showsAll = arguments.has(Self.all) || arguments[.state] != nil
    }

    private static func interval(_ text: String) throws(Failure) -> Duration {
        if text.isEmpty { return .seconds(1) }
        guard let seconds = Double(text), (0.01...86_400).contains(seconds) else {
            throw .usage(
                "option '--watch' takes 0.01 to 86400 seconds, not \(text.quoted)", hint: "write such as --watch=5")
        }
        return .seconds(seconds)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        if let interval = self.interval { return try self.watch(every: interval, in: context) }
        let unreadable = context.isJSON ? try self.printJSON(in: context) : try self.printTable(in: context)
        if !context.isJSON, let trouble = try context.linkTrouble { context.console.writeError("\(trouble)\n") }
        return unreadable.report(in: context)
    }

    /// Prints the circuits for people.
    ///
    /// - Returns: the circuits that could not be shown.
    private func printTable(in context: Context) throws(Failure) -> Unreadable {
        // Each circuit becomes text as soon as it is read, because there may be very many.
        let console = context.console
        let found = try self.selection.gather(
            into: (rows: ListRows(height: console.height, showsAll: self.showsAll), count: 0),
            countingWorkers: false, in: context
        ) { found, circuit in
            found.count += 1
            if self.filter.admits(circuit.snapshot) { found.rows.append(circuit) }
        }
        let (rows, count) = found.value
        let states = rows.states
        if states.total > 0 {
            // The shell's prompt takes a line, too.
            let below = 1 + (found.live.notice.map { $0.wrapped(to: console.width).count + 1 } ?? 0)
            let shown = rows.shown(width: console.width, linesBelow: below)
            if !shown.table.isEmpty {
                shown.table.forEachLine(width: console.width, context.style) { console.write($0) }
            }
            // The first rows are no longer visible.
            if shown.isTooLong {
                console.writeLines("\(states.sum)\(states.text == StateCounts.calm ? "" : " (above)")\n")
            }
            if shown.hidden > 0 { console.writeLines("\(shown.hidden) closed: --all lists them\n") }
        } else if count > 0 || found.unreadable.isEmpty {
            console.writeError(count > 0 ? Self.nothingWanted : self.selection.nothingFound)
        }
        if let notice = found.live.notice { context.writeFooter(notice) }
        return Unreadable(found.unreadable)
    }

    /// Prints the circuits for scripts.
    ///
    /// - Returns: the circuits that could not be shown.
    private func printJSON(in context: Context) throws(Failure) -> Unreadable {
        let found = try self.selection.gather(into: JSONList(), in: context) { list, circuit in
            if self.filter.admits(circuit.snapshot) { list.append(circuit.seen) }
        }
        let unreadable = Unreadable(found.unreadable)
        found.value.writeDocument(unreadable: unreadable.names, degraded: found.live.seen) { context.console.write($0) }
        return unreadable
    }
}
