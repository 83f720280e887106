#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

extension Failure {
    /// A failure of the program for an error of the library.
    init(_ error: FleetError, _ code: ExitCode = .failed) {
        self.init(code, error.message.escaped, hint: Self.advice(error))
    }

    private static func advice(_ error: FleetError) -> String? {
        switch error.code {
        case .wrongSchema where error.message.contains("has no schema") || error.message.contains("has no version"):
            "'\(FleetProgram.name) schema apply', as the database's owner, makes the schema"
        case .refused where error.message.contains("42501"):
            "'\(FleetProgram.name) schema check' shows which rights this user lacks"
        // If no server is named, libpq looks for one on this host.
        case .unreachable where error.message.contains("on socket"):
            "name the server with --postgres, or in libpq's variables such as PGHOST"
        default: nil
        }
    }
}

extension FleetServer {
    /// Connects to the server of the settings.
    init(for settings: Settings, orEndWith code: ExitCode = .failed) throws(Failure) {
        let connection = try settings.connection()
        do throws(FleetError) {
            try self.init(connection: connection)
        } catch {
            throw Failure(error, code)
        }
    }

    /// Queries or changes the server, and makes a failure of the program of the library's error.
    func asked<Value>(
        orEndWith code: ExitCode = .failed, _ body: (FleetServer) throws(FleetError) -> Value
    ) throws(Failure) -> Value {
        do throws(FleetError) {
            return try body(self)
        } catch {
            throw Failure(error, code)
        }
    }
}
#endif
