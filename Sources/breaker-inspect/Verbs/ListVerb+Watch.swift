import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `list --watch`: the list again and again.
extension ListVerb {
    /// Ends when nobody reads it any more; a signal ends the process.
    func watch(every interval: Duration, in context: Context) throws(Failure) -> ExitCode {
        try context.watching { (watch) throws(Failure) in
            var circuits = CircuitsWatch(watch, self.selection, in: context)
            // What can't be read at all is told as everywhere.
            let first = try circuits.circuits()
            if context.console.outputIsTerminal, !context.isJSON {
                self.redraw(first, &circuits, every: interval, in: context)
            } else {
                self.append(first, &circuits, every: interval, in: context)
            }
            return .done
        }
    }

    // MARK: - On a terminal

    private func redraw(
        _ first: [InspectedCircuit],
        _ watch: inout CircuitsWatch,
        every interval: Duration,
        in context: Context
    ) {
        var frame = Frame(context.console)
        var circuits = first
        var trouble = watch.unreadable.failure
        context.console.enterScreen()
        defer { context.console.leaveScreen() }
        while true {
            frame.draw(self.lines(circuits, trouble, in: context))
            switch context.console.pause(for: interval, listening: true) {
            case .isOver: break
            case .disturbed: frame.forget()
            case .nobodyReads: return
            }
            (circuits, trouble) = Self.look(&watch)
        }
    }

    private func lines(_ circuits: [InspectedCircuit], _ trouble: Failure?, in context: Context) -> [String] {
        let now = context.now
        var table = Table.circuits()
        for circuit in circuits where self.filter.admits(circuit.snapshot) { table.append(circuit.snapshot, at: now) }
        var lines: [String] = []
        if table.isEmpty {
            lines.append(circuits.isEmpty ? self.selection.nothingFound : Self.nothingWanted)
        } else {
            table.forEachLine(width: context.console.width, context.style) { lines.append($0) }
        }
        if let trouble {
            let message = context.console.width.map { trouble.message.cut(to: $0) } ?? trouble.message
            lines.insert("\(message)\n", at: 0)
        }
        return lines
    }

    /// The circuits now and which of them can't be read, or those that were read last and why there are no newer ones.
    private static func look(_ watch: inout CircuitsWatch) -> ([InspectedCircuit], Failure?) {
        do throws(Failure) {
            return (try watch.circuits(), watch.unreadable.failure)
        } catch {
            return (watch.lastCircuits, error)
        }
    }

    // MARK: - To a file or a pipe

    private func append(
        _ first: [InspectedCircuit],
        _ watch: inout CircuitsWatch,
        every interval: Duration,
        in context: Context
    ) {
        var log = CircuitsLog(self.filter, context)
        log.begin(with: first, watch.unreadable)
        var trouble: Failure?
        while true {
            let (circuits, newTrouble) = Self.look(&watch)
            // Once, and not again as long as it lasts.
            if let newTrouble, newTrouble.message != trouble?.message {
                context.console.writeError("\(Tool.name): \(newTrouble.message)\n")
            }
            trouble = newTrouble
            log.append(changesTo: circuits, watch.unreadable)
            if context.console.pause(for: interval, listening: true) == .nobodyReads { return }
        }
    }
}
