#if PostgreSQL
import CPostgreSQL

extension ServerConnection {
    /// Sends one statement and waits for the whole answer, until the deadline.
    ///
    /// All parameters have the type text, which a statement casts where it needs another type; all columns of the
    /// answer come as text. A statement that the server refuses leaves the connection as it is; any other error closes
    /// the connection.
    @discardableResult
    package func run(_ statement: String, _ parameters: [String?] = []) throws(FleetError) -> [ServerRow] {
        guard let handle = unsafe self.handle else { throw Self.closed }
        let deadline = ContinuousClock.now + self.manner.timeout
        self.statements += 1
        self.startCounting()
        let texts = CTexts(parameters)
        let types = [Oid](repeating: Self.text, count: parameters.count)
        let isSent = unsafe texts.withPointers { values in
            unsafe PQsendQueryParams(handle, statement, Int32(parameters.count), types, values, nil, nil, 0) == 1
        }
        // Row by row: libpq would keep all rows of an endless answer before handing out the first.
        guard isSent, unsafe PQsetSingleRowMode(handle) == 1 else { throw self.closeLost() }
        var answer = Answer()
        while true {
            let flushed = unsafe PQflush(handle)
            guard flushed >= 0 else { throw self.closeLost() }
            if flushed == 0, unsafe PQisBusy(handle) == 0 {
                // PQgetResult: "returning a null pointer when the command is done"
                guard let result = unsafe PQgetResult(handle) else { break }
                defer { unsafe PQclear(result) }
                guard unsafe answer.append(result, within: self.manner.bounds) else { throw self.closeUnexpected() }
                guard ContinuousClock.now < deadline else { throw self.closeLate() }
                continue
            }
            try self.consume(until: deadline, isWriting: flushed == 1)
        }
        self.collectNotifications()
        if unsafe PQstatus(handle) == CONNECTION_BAD { throw self.closeLost() }
        if let failure = answer.failure {
            let text = self.settings.withoutPassword(failure.message) ?? "the statement failed"
            throw FleetError(
                code: ServerFailure.code(of: failure.state), message: "\(text) (SQLSTATE \(failure.state))")
        }
        return answer.rows
    }

    /// The object identifier of the type `text`, from PostgreSQL's pg_type.dat.
    ///
    /// Parameters have a type because the server can't infer one for a parameter that the statement does not use.
    private static let text: Oid = 25

    static var closed: FleetError { FleetError(code: .unreachable, message: "there is no connection to the server") }

    private func closeLate() -> FleetError {
        self.close()
        return FleetError(code: .timedOut, message: "the server did not answer a statement in time")
    }

    private func closeUnexpected() -> FleetError {
        self.close()
        return FleetError(code: .unavailable, message: "the server sent an answer that does not fit the request")
    }

    /// Waits for bytes from the server, or for room to send the rest, and reads all bytes that have arrived.
    private func consume(until deadline: ContinuousClock.Instant, isWriting: Bool) throws(FleetError) {
        guard let handle = unsafe self.handle else { throw Self.closed }
        let left = deadline - .now
        guard left > .zero else { throw self.closeLate() }
        let socket = unsafe PQsocket(handle)
        let ready = Poll.wait(for: left, reading: [socket], writing: isWriting ? [socket] : [])
        guard !ready.isEmpty else { return }
        try self.countReceived(socket)
        guard unsafe PQconsumeInput(handle) == 1 else { throw self.closeLost() }
        self.collectNotifications()
    }
}

/// The rows of an answer, or the failure that it reports.
private struct Answer {
    var rows: [ServerRow] = []
    private var bytes = 0
    var failure: (state: String, message: String)?

    /// Adds a result of libpq; false if no statement of a link can have such a result.
    mutating func append(_ result: OpaquePointer, within bounds: ServerConnection.Bounds) -> Bool {
        switch unsafe PQresultStatus(result) {
        case PGRES_SINGLE_TUPLE:
            let count = unsafe max(0, PQnfields(result))
            for column in 0..<count { self.bytes += unsafe Int(PQgetlength(result, 0, column)) }
            guard self.rows.count < bounds.rows, self.bytes <= bounds.bytes else { return false }
            self.rows.append(ServerRow(columns: (0..<count).map { unsafe Self.text(result, $0) }))
            return true
        // Each answer ends with one of these: no more rows, or a command without rows.
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: return true
        case PGRES_FATAL_ERROR:
            // The first failure shows the cause. Only its primary message is stored: other fields repeat values.
            if self.failure == nil {
                let state = unsafe Self.field(result, Int32(UInt8(ascii: "C"))) ?? "none"
                let message = unsafe Self.field(result, Int32(UInt8(ascii: "M"))) ?? "the statement failed"
                self.failure = (ServerText.shown(state), message)
            }
            return true
        default: return false
        }
    }

    private static func text(_ result: OpaquePointer, _ column: Int32) -> String? {
        guard unsafe PQgetisnull(result, 0, column) == 0, let value = unsafe PQgetvalue(result, 0, column) else {
            return nil
        }
        return unsafe String(cString: value)
    }

    private static func field(_ result: OpaquePointer, _ code: Int32) -> String? {
        unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) }
    }
}
#endif
