import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `history --follow`: past events, then new ones.
extension HistoryVerb {
    /// How often the file is checked for new events.
    private static let interval = Duration.milliseconds(200)

    /// Follows the history until no process reads the output; a signal ends the process.
    func follow(in context: Context) throws(Failure) -> ExitCode {
        try context.watching { (watch) throws(Failure) in
            var (last, table) = try self.begin(watch, in: context)
            var trouble: Failure?
            while context.console.pause(for: Self.interval, listening: true) != .nobodyReads {
                do throws(Failure) {
                    let (events, live) = try Self.events(watch, after: &last, in: context)
                    for event in events where self.wants(event) {
                        guard !context.isJSON else {
                            context.console.write(JSONDocument.event(event, degraded: live?.seen))
                            continue
                        }
                        table.append(EventLine(event))
                        table.print(width: context.console.width, context.style) { context.console.write($0) }
                    }
                    trouble = nil
                } catch {
                    // A lasting error is reported once.
                    if error.message != trouble?.message {
                        context.console.writeError("\(Tool.name): \(error.message)\n")
                    }
                    trouble = error
                }
            }
            return .done
        }
    }

    /// Prints past events; returns the id of the file's last event.
    private func begin(_ watch: ChangeWatch, in context: Context) throws(Failure) -> (Int64, EventTable) {
        let found: (events: Outcome<[CircuitEvent]>, newest: Int64, live: LiveWorkers)?
        do throws(BreakerStoreError) {
            found = try watch.inspectIfChanged { (inspection, _) throws(BreakerStoreError) in
                (
                    try self.wanted(in: inspection, asJSON: context.isJSON), try inspection.newestEvent(),
                    try inspection.liveWorkers()
                )
            }
        } catch {
            throw context.failure(error)
        }
        return (found?.newest ?? 0, self.report(try found?.events.get() ?? [], found?.live, in: context))
    }

    /// The events after the event with the id `last`, and the workers; none if the file has not changed.
    private static func events(
        _ watch: ChangeWatch,
        after last: inout Int64,
        in context: Context
    ) throws(Failure) -> (events: [CircuitEvent], live: LiveWorkers?) {
        let shown = last
        let found: (events: [CircuitEvent], newest: Int64, live: LiveWorkers)?
        do throws(BreakerStoreError) {
            found = try watch.inspectIfChanged { (inspection, isAnotherFile) throws(BreakerStoreError) in
                // The ids of another file's events begin at 1.
                (
                    try inspection.history(after: isAnotherFile ? 0 : shown), try inspection.newestEvent(),
                    try inspection.liveWorkers()
                )
            }
        } catch {
            throw context.failure(error)
        }
        guard let found else { return ([], nil) }
        last = found.newest
        return (found.events, found.live)
    }
}
