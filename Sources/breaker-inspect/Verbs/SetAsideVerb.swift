import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `set-aside`: moves a store's file away, so that services start a new one.
struct SetAsideVerb: Verb {
    static let name = "set-aside"
    static let synopsis = ""
    static let summary = "move a file away that services refuse; they start a new one"
    static let details = """
        For a file that is damaged, or whose tables are not as the library makes them
        ('doctor' says so). Its history goes with it, and each hold and open state that
        no running service knows. Says why, and asks. The file, its -wal, -shm and
        -journal get names with .corrupt- and the time, and keep all bytes; its -lock
        and -board stay. Services may go on: they guard in memory, and start a new file
        within a second. Refuses while a service can use the file. Moves a file that is
        no database at all, but never a database of another program.
        """
    static let options: [Option] = [.yes, .dryRun]

    private let isConfirmed: Bool
    private let isDryRun: Bool

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.isEmpty else { throw .usage("'\(Self.name)' takes no names", verb: Self.name) }
        self.isConfirmed = arguments.has(.yes)
        self.isDryRun = arguments.has(.dryRun)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let path = try context.path()
        let (files, why) = try self.trying(path) { () throws(BreakerStoreError) in
            let files = try StoreFiles(path: path)
            return (files, try files.standing())
        }
        context.console.writeError("\(path.quoted): \(Self.text(why))\n")
        var kept: String?
        if self.isDryRun {
            context.console.writeError("dry run: nothing was changed\n")
        } else {
            if !self.isConfirmed, try !self.ask(why, in: context) {
                context.console.writeError("nothing was changed\n")
                return .declined
            }
            kept = try self.trying(path) { () throws(BreakerStoreError) in try files.quarantine(context.clock) }
        }
        if context.isJSON {
            context.console.write(JSONDocument.setAside(path, as: kept))
        } else if let kept {
            context.console.writeLines("\(path.escaped) -> \(kept.escaped)\n")
        }
        return .done
    }

    private func trying<Value>(
        _ path: String, _ body: () throws(BreakerStoreError) -> Value
    ) throws(Failure) -> Value {
        do throws(BreakerStoreError) {
            return try body()
        } catch {
            throw Failure(error, path: path, doing: "set aside")
        }
    }

    private static func text(_ standing: StoreFiles.Standing) -> String {
        switch standing {
        case .refused(let error), .unrecognizable(let error): error.message.escaped
        case .unused: "nothing is wrong with its tables, and no service has it open"
        }
    }

    private static func question(_ standing: StoreFiles.Standing) -> String {
        switch standing {
        // Services that guard in memory write what they know into the new file.
        case .refused:
            "Its history goes with it, and each hold and open state that no running service knows. Move it away? [y/N] "
        case .unused: "Its circuits, holds and history go with it. Move it away? [y/N] "
        case .unrecognizable: "Nothing in it looks like a store: check the path. Move it away? [y/N] "
        }
    }

    private func ask(_ why: StoreFiles.Standing, in context: Context) throws(Failure) -> Bool {
        guard context.console.canAsk else {
            throw Failure(
                .usage, "\(Self.name) needs confirmation, and there is no terminal to ask on",
                hint: "give --yes to confirm, or --dry-run to see why it would")
        }
        context.console.writeError(Self.question(why))
        let answer = context.console.readLine()
        if answer == nil { context.console.writeError("\n") }
        return ["y", "yes"].contains(answer?.lowercased())
    }
}
