import BreakerStore
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `list --watch`: a list that is updated.
extension ListVerb {
    /// Watches until no process reads the output; a signal ends the process.
    func watch(every interval: Duration, in context: Context) throws(Failure) -> ExitCode {
        try context.watching { (watch) throws(Failure) in
            var circuits = CircuitsWatch(watch, self.selection, in: context)
            // An error of the first read ends the verb, as in all verbs.
            try circuits.refresh()
            if context.console.outputIsTerminal, !context.isJSON {
                try self.redraw(&circuits, every: interval, in: context)
            } else {
                self.append(&circuits, every: interval, in: context)
            }
            return .done
        }
    }

    // MARK: - On a terminal

    private func redraw(_ watch: inout CircuitsWatch, every interval: Duration, in context: Context) throws(Failure) {
        let path = try context.path()
        var frame = Frame(context.console)
        var trouble = watch.unreadable.failure
        context.console.enterScreen()
        defer { context.console.leaveScreen() }
        while true {
            let screen = CircuitsScreen(
                filter: self.filter, path: path, width: context.console.width, height: context.console.height,
                style: context.style, linkTrouble: try context.linkTrouble)
            let nothing = (watch.lastMoment?.count ?? 0) == 0 ? self.selection.nothingFound : Self.nothingWanted
            frame.draw(screen.lines(watch.lastMoment, trouble, orNothing: nothing, at: context.now))
            switch context.console.pause(for: interval, listening: true) {
            case .isOver: break
            case .disturbed: frame.forget()
            case .nobodyReads: return
            }
            trouble = Self.refresh(&watch)
        }
    }

    /// Reads changes; returns the failure for circuits that can't be read, or for an error of the read.
    private static func refresh(_ watch: inout CircuitsWatch) -> Failure? {
        do throws(Failure) {
            try watch.refresh()
            return watch.unreadable.failure
        } catch {
            return error
        }
    }

    // MARK: - To a file or a pipe

    private func append(_ watch: inout CircuitsWatch, every interval: Duration, in context: Context) {
        var log = CircuitsLog(self.filter, context)
        log.begin(with: watch.lastCircuits, watch.unreadable, watch.live)
        var trouble: Failure?
        while true {
            let newTrouble = Self.refresh(&watch)
            // A lasting error is reported once.
            if let newTrouble, newTrouble.message != trouble?.message {
                context.console.writeError("\(Tool.name): \(newTrouble.message)\n")
            }
            trouble = newTrouble
            log.append(changesTo: watch.lastCircuits, watch.unreadable, watch.live)
            if context.console.pause(for: interval, listening: true) == .nobodyReads { return }
        }
    }
}
