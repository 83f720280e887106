#if PostgreSQL
import CPostgreSQL

/// One connection to PostgreSQL, which keeps deadlines of its own whatever the server, or a proxy before it, does.
///
/// Used by one thread at a time, which is why it is not Sendable. `open` and `run` block that thread, to their
/// deadlines and no longer, but for one thing: libpq looks names up in the DNS with getaddrinfo(3), which keeps no
/// deadline. So a connection belongs on a thread of its own, for which no call through a circuit ever waits.
///
/// Safe: the pointer is libpq's, and nobody else has it; `close` frees what is behind it and forgets it, once.
@safe
package final class ServerConnection {
    /// How much one answer may have.
    package struct Bounds: Sendable {
        var rows = 200_000
        var bytes = 64 << 20
        /// How many names of notifications are kept until somebody takes them.
        var notifications = 1_000
    }

    /// How a connection is made, beside what its settings say.
    package struct Manner: Sendable {
        /// For connecting, and for each statement.
        var timeout: Duration = .seconds(2)
        /// Whether the session at the server is this connection's own.
        ///
        /// Behind a pooler it is lent for a transaction at a time, and what is set there would be set for others.
        var hasOwnSession = true
        var bounds = Bounds()

        package init(
            timeout: Duration = .seconds(2), hasOwnSession: Bool = true, bounds: Bounds = Bounds()
        ) {
            self.timeout = timeout
            self.hasOwnSession = hasOwnSession
            self.bounds = bounds
        }
    }

    let settings: ConnectionSettings
    let manner: Manner
    private(set) var handle: OpaquePointer?
    /// Names that others have notified, as far as nobody has taken them.
    var notifications: [String] = []
    /// How many bytes have come since the last statement was sent.
    private(set) var received: Int64 = 0
    /// How many had come before, where the kernel counts them.
    private var receivedBefore: Int64 = 0
    /// How many statements were sent.
    var statements = 0

    /// Connects; throws at the latest after the manner's timeout, to which looking the server's name up does not count.
    package init(_ settings: ConnectionSettings, manner: Manner = Manner()) throws(FleetError) {
        self.settings = settings
        self.manner = manner
        let deadline = ContinuousClock.now + manner.timeout
        var failure = FleetError(code: .unreachable, message: "no server is named")
        for (number, server) in settings.servers.enumerated() {
            let now = ContinuousClock.now
            // What is left of the time is shared among the servers that were not tried.
            let end = now + (deadline - now) / (settings.servers.count - number)
            do throws(FleetError) {
                try self.connect(server, until: end)
                if manner.hasOwnSession { try self.prepareSession() }
                return
            } catch {
                failure = error
                self.close()
            }
        }
        throw failure
    }

    deinit { self.close() }

    var isOpen: Bool { unsafe self.handle != nil }

    /// Ends the connection at once.
    package func close() {
        guard let handle = unsafe self.handle else { return }
        unsafe self.handle = nil
        // PQfinish says good-bye to the server; on a socket that is shut down nothing waits for room to say it in.
        let socket = unsafe PQsocket(handle)
        if socket >= 0 { Poll.shutDown(socket) }
        unsafe PQfinish(handle)
    }

    private func connect(
        _ server: [ConnectionSettings.Setting], until deadline: ContinuousClock.Instant
    )
        throws(FleetError)
    {
        let texts = CTexts(server.map(\.keyword) + [nil] + server.map(\.value) + [nil])
        let started = unsafe texts.withPointers { all in
            unsafe all.withUnsafeBufferPointer { all -> OpaquePointer? in
                guard let keywords = all.baseAddress else { return nil }
                return unsafe PQconnectStartParams(keywords, keywords + server.count + 1, 0)
            }
        }
        guard let handle = unsafe started else {
            throw FleetError(code: .unavailable, message: "no memory for a connection")
        }
        unsafe self.handle = handle
        unsafe bf_drop_notices(handle)
        // For the SQLSTATE, which only a verbose message tells.
        unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        (self.received, self.receivedBefore) = (0, 0)
        // "If you have yet to call PQconnectPoll ... behave as if it last returned PGRES_POLLING_WRITING."
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            if unsafe PQstatus(handle) == CONNECTION_BAD || status == PGRES_POLLING_FAILED { throw self.notConnected() }
            let left = deadline - .now
            guard left > .zero else {
                throw FleetError(code: .timedOut, message: "the server did not let the link in in time")
            }
            // The socket may be another one after each call of PQconnectPoll.
            let socket = unsafe PQsocket(handle)
            let isReading = status == PGRES_POLLING_READING
            let ready = Poll.wait(for: left, reading: isReading ? [socket] : [], writing: isReading ? [] : [socket])
            guard !ready.isEmpty else { continue }
            if isReading { try self.countReceived(socket) }
            status = unsafe PQconnectPoll(handle)
        }
        unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw self.lost() }
    }

    /// What the server is told about this session.
    ///
    /// - `statement_timeout`, `lock_timeout`: the server gives up before this end does, and holds no row for nobody.
    /// - `synchronous_commit`: a commit does not wait for a standby that is gone. What a failover loses is offered
    ///   again by the links that know it.
    /// - `search_path`: all names are written with their schema; nobody else's operators and functions are found.
    /// - the isolation level: a compare-and-set that waited for another looks again at what that one left.
    private func prepareSession() throws(FleetError) {
        let timeout = max(1, Int64(self.manner.timeout / .milliseconds(1)) * 3 / 4)
        try self.run(
            """
            SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
            set_config('synchronous_commit', 'local', false), set_config('search_path', 'pg_catalog, pg_temp', false),
            set_config('default_transaction_isolation', 'read committed', false)
            """, [String(timeout), String(max(1, timeout / 2))])
    }

    // MARK: - What went wrong

    /// The connection has failed: it is closed, and this says why.
    func lost() -> FleetError {
        let message = unsafe self.handle.map { unsafe String(cString: PQerrorMessage($0)) } ?? ""
        self.close()
        let text = message.isEmpty ? "" : self.settings.told(ServerFailure.brief(message)).map { ": \($0)" } ?? ""
        return FleetError(code: .unreachable, message: "the connection to the server is lost\(text)")
    }

    /// The server did not let this end in.
    private func notConnected() -> FleetError {
        guard let handle = unsafe self.handle else { return self.lost() }
        let message = unsafe String(cString: PQerrorMessage(handle))
        let needsPassword = unsafe PQconnectionNeedsPassword(handle) == 1
        self.close()
        let state = ServerFailure.state(in: message)
        let code = needsPassword ? FleetError.Code.refused : state.map { ServerFailure.code(of: $0) } ?? .unreachable
        let text =
            self.settings.told(ServerFailure.brief(message))
            ?? "the server can't be used\(state.map { " (SQLSTATE \($0))" } ?? ""); libpq's words hold the password"
        return FleetError(code: code, message: text)
    }

    /// Begins to count the bytes of an answer.
    func startCounting() {
        guard let handle = unsafe self.handle else { return }
        self.received = 0
        self.receivedBefore = unsafe bf_bytes_received(PQsocket(handle))
    }

    /// Counts what has come, before libpq reads it; throws when that is more than an answer may have.
    ///
    /// Where the kernel keeps no count, what waits just now is added up: while libpq reads, more may come.
    func countReceived(_ socket: Int32) throws(FleetError) {
        let all = bf_bytes_received(socket)
        self.received = all >= 0 ? all - self.receivedBefore : self.received + Int64(bf_bytes_waiting(socket))
        guard self.received > Int64(self.manner.bounds.bytes) else { return }
        self.close()
        throw FleetError(code: .unavailable, message: "the server sent more than an answer may have")
    }
}
#endif
