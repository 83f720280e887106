#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `schema`: prints, creates or checks the schema that links need in the database.
struct SchemaVerb: Verb {
    static let name = "schema"
    static let synopsis = "print|apply|check"
    static let operands: [Operand] = [.one(.anyOf(Action.self))]
    static let summary = "print, make or check what the links need in the database"
    static let details = """
        'print' writes the SQL for psql; 'apply' runs it, as the user who is to own
        the schema, or moves an older one to this release's version, in one
        transaction: links of an older release can't use it from then on. 'check', as
        the user of the links, says whether they can work with the schema.
        """
    static let options: [Option] = []

    private enum Action: String, CaseIterable { case print, apply, check }

    private let action: Action
    private let settings: Settings

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard arguments.operands.count == 1, let action = Action(rawValue: arguments.operands[0]) else {
            throw .usage("'schema' takes one of print, apply and check", verb: Self.name)
        }
        self.action = action
        self.settings = settings
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        if self.action == .print {
            context.console.write(FleetServer.script)
            return .done
        }
        let server = try FleetServer(for: self.settings)
        do throws(FleetError) {
            return self.action == .apply ? try self.apply(server, context) : try self.check(server, context)
        } catch {
            throw Failure(error)
        }
    }

    private func apply(_ server: FleetServer, _ context: Context) throws(FleetError) -> ExitCode {
        let before = try server.schemaVersion()
        try server.makeSchema()
        let version = try server.schemaVersion() ?? FleetServer.schemaVersion
        if context.isJSON {
            context.console.write(
                JSONValue.document(["schema": .string(version), "isNew": .bool(before == nil)]))
        } else if before == nil {
            context.console.writeLines("made the schema fleet, version \(version)\n")
            context.console.writeError(
                "hint: '\(FleetProgram.name) schema print' shows what to grant to the links' user\n")
        } else {
            let outcome =
                before == version ? "is there, version" : "was moved from version \(before ?? "") to"
            context.console.writeLines("the schema fleet \(outcome) \(version)\n")
        }
        return .done
    }

    private func check(_ server: FleetServer, _ context: Context) throws(FleetError) -> ExitCode {
        var version: String?
        do throws(FleetError) {
            try server.requireSchema()
            version = try server.schemaVersion()
        } catch {
            // The missing right is one of those that are printed below.
            guard error.code == .refused else { throw error }
        }
        let missing = try server.missingRights()
        let mayChange = try server.mayChangeSchema()
        if context.isJSON {
            context.console.write(
                JSONValue.document([
                    "schema": .text(version), "missing": .array(missing.map { .string($0) }),
                    "mayChangeSchema": .bool(mayChange),
                ]))
        } else {
            context.console.writeLines("the schema fleet is there\(version.map { ", version \($0)" } ?? "")\n")
            for right in missing { context.console.writeLines("missing: \(right)\n") }
            if mayChange { context.console.writeLines("note: this user may change the schema, which no link needs\n") }
        }
        return missing.isEmpty ? .done : .failed
    }
}
#endif
