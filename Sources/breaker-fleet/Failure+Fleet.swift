#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

extension Failure {
    /// What the library says of the server.
    init(_ error: FleetError, _ code: ExitCode = .failed) {
        self.init(code, error.message.escaped, hint: Self.advice(error.code))
    }

    private static func advice(_ code: FleetError.Code) -> String? {
        switch code {
        case .wrongSchema: "'\(FleetProgram.name) schema apply', as the database's owner, makes the schema"
        case .unreachable, .timedOut: "name the server with --postgres, or in libpq's variables such as PGHOST"
        default: nil
        }
    }
}

extension FleetServer {
    /// Connects as the settings say.
    init(for settings: Settings, orEndWith code: ExitCode = .failed) throws(Failure) {
        let connection = try settings.connection()
        do throws(FleetError) {
            try self.init(connection: connection)
        } catch {
            throw Failure(error, code)
        }
    }
}
#endif
