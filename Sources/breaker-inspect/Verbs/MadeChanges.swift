import BreakerStore
import BreakerTool

/// The changes that a command has made, and why it ended before its last circuit.
struct MadeChanges {
    /// The changes, by name.
    private(set) var changes: [StateChange] = []
    /// Why not all circuits were changed: an interrupt, or an error after some of them.
    private(set) var failure: Failure?
    private var reached = 0
    private var count = 0

    /// Carries out the plan; throws if nothing was changed.
    init(
        _ plan: Change.Plan, on selectors: [CircuitSelector], _ check: OperatorAction.HoldCheck?, in context: Context
    ) throws(Failure) {
        self = try context.changing { (store) throws(BreakerStoreError) -> Outcome<MadeChanges> in
            var made = MadeChanges()
            do throws(BreakerStoreError) {
                try made.run(plan.begin(store, selectors, check), in: context)
            } catch {
                // When the circuit was found, it existed, and was unused or not held.
                let isHeld = error.code == .inUse && plan.endsHolds != nil
                let failure =
                    isHeld
                    ? .newlyHeld(error.message, doing: plan.question)
                    : Failure(changed: error, doing: plan.question)
                if made.reached == 0 {
                    guard let failure else { throw error }
                    return .failure(failure)
                }
                made.failure = failure ?? context.failure(error, doing: "change")
                made.failure?.message += "; reached \(made.reached) of \(made.count) circuits"
            }
            made.changes.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            return .success(made)
        }.get()
    }

    private init() {}

    private mutating func run(_ command: BatchedCommand, in context: Context) throws(BreakerStoreError) {
        self.count = command.count
        guard self.count > BatchedCommand.largestBatch else {
            // One transaction needs no deferred interrupts: it is committed or not, whenever the process ends.
            _ = try self.runBatches(command) { _ in true }
            return
        }
        let console = context.console
        var progress = Progress(console, of: self.count, "circuits")
        console.deferInterrupts()
        defer {
            progress.end()
            console.stopDeferringInterrupts()
        }
        try self.runBatches(command) { reached in
            progress.show(reached)
            return !console.isInterrupted
        }
        guard self.reached < self.count else { return }
        self.failure = Failure(
            .interrupted,
            "interrupted after \(self.reached) of \(self.count) circuits; the others are as they were",
            hint: "run the command again to change the others, too")
    }

    /// Changes batch after batch, while `goesOn` returns true for the number of circuits so far.
    private mutating func runBatches(
        _ command: BatchedCommand, _ goesOn: (Int) -> Bool
    ) throws(BreakerStoreError) {
        var command = command
        while let made = try command.next() {
            self.changes += made
            self.reached = command.reached
            if !goesOn(self.reached) { return }
        }
    }
}

extension Failure {
    /// An error about the named circuits; nil for an error about the store.
    fileprivate init?(changed error: BreakerStoreError, doing question: String) {
        switch error.code {
        case .noSuchCircuit: self.init(.noSuchCircuit, error.message)
        case .inUse: self = .inUse(error.message, doing: question)
        default: return nil
        }
    }

    /// The failure if another operator has set a hold since the circuits were found.
    fileprivate static func newlyHeld(_ reason: String, doing question: String) -> Failure {
        Failure(.failed, "cannot \(question): \(reason)", hint: "run it again: then you are asked about that hold")
    }

    static func inUse(_ reason: String, doing question: String) -> Failure {
        Failure(
            .failed,
            "cannot \(question): \(reason)",
            hint: "stop the services that use it first, or give --force: they register it again at their next call"
        )
    }
}
