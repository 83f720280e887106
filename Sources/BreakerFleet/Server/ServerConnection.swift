#if PostgreSQL
import CPostgreSQL

/// A connection to PostgreSQL that keeps its own deadlines, whatever the server, or a proxy before it, does.
///
/// One thread at a time uses it, so it is not Sendable. `init` and `run` block that thread, but not beyond their
/// deadlines, with one exception: libpq looks names up in the DNS by getaddrinfo(3), which has no time-out. So a
/// connection belongs on a thread of its own, for which no call through a circuit ever waits.
///
/// Safe: no other object has the pointer to libpq's connection; `close` frees the connection once, and forgets the
/// pointer.
@safe
package final class ServerConnection {
    /// The limits of one answer.
    package struct Bounds: Sendable {
        var rows = 200_000
        var bytes = 64 << 20
        /// How many notifications are stored until the owner drains them.
        var notifications = 1_000
    }

    /// The options of a connection, apart from libpq's settings.
    package struct Manner: Sendable {
        /// The longest time for connecting, and for each statement.
        var timeout: Duration = .seconds(2)
        /// Whether the session at the server is this connection's own.
        ///
        /// A pooler lends a session for one transaction at a time, so its settings would hold for other clients, too.
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
    /// The texts of the notifications that the owner has not drained yet.
    var notifications: [String] = []
    /// How many bytes have arrived since the last statement was sent.
    private(set) var received: Int64 = 0
    /// How many bytes had arrived before that statement, where the kernel counts them.
    private var receivedBefore: Int64 = 0
    /// How many statements were sent.
    var statements = 0

    /// Connects, and throws after the manner's timeout, which does not cover the DNS lookup of the server's name.
    package init(_ settings: ConnectionSettings, manner: Manner = Manner()) throws(FleetError) {
        self.settings = settings
        self.manner = manner
        let deadline = ContinuousClock.now + manner.timeout
        var failure = FleetError(code: .unreachable, message: "no server is named")
        for (index, server) in settings.servers.enumerated() {
            let now = ContinuousClock.now
            // The servers that were not tried yet share the time that is left.
            let end = now + (deadline - now) / (settings.servers.count - index)
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
        // PQfinish sends a last message to the server; on a socket that is shut down, that can't block.
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
            throw FleetError(code: .unavailable, message: "there is no memory left for a connection")
        }
        unsafe self.handle = handle
        unsafe bf_drop_notices(handle)
        // Only a verbose message has the SQLSTATE.
        unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        (self.received, self.receivedBefore) = (0, 0)
        // "If you have yet to call PQconnectPoll ... behave as if it last returned PGRES_POLLING_WRITING."
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            if unsafe PQstatus(handle) == CONNECTION_BAD || status == PGRES_POLLING_FAILED { throw self.closeRefused() }
            let left = deadline - .now
            guard left > .zero else {
                throw FleetError(code: .timedOut, message: "the server did not accept the connection in time")
            }
            // Each call of PQconnectPoll may change the socket.
            let socket = unsafe PQsocket(handle)
            let isReading = status == PGRES_POLLING_READING
            let ready = Poll.wait(for: left, reading: isReading ? [socket] : [], writing: isReading ? [] : [socket])
            guard !ready.isEmpty else { continue }
            if isReading { try self.countReceived(socket) }
            status = unsafe PQconnectPoll(handle)
        }
        unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw self.closeLost() }
    }

    /// Sets the session's parameters.
    ///
    /// - `statement_timeout`, `lock_timeout`: the server gives up before this connection does, and keeps no row
    ///   locked.
    /// - `synchronous_commit`: a commit does not wait for a standby, which may be gone. Links offer again what a
    ///   failover loses.
    /// - `search_path`: the statements name the schema of each table, so this hides other users' operators and
    ///   functions.
    /// - the isolation level: a compare-and-set that waited for another checks the changed row again.
    private func prepareSession() throws(FleetError) {
        let timeout = max(1, Int64(self.manner.timeout / .milliseconds(1)) * 3 / 4)
        try self.run(
            """
            SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
            set_config('synchronous_commit', 'local', false), set_config('search_path', 'pg_catalog, pg_temp', false),
            set_config('default_transaction_isolation', 'read committed', false)
            """, [String(timeout), String(max(1, timeout / 2))])
    }

    // MARK: - Failures

    /// Closes the failed connection, and returns the error.
    func closeLost() -> FleetError {
        let message = unsafe self.handle.map { unsafe String(cString: PQerrorMessage($0)) } ?? ""
        self.close()
        let brief = message.isEmpty ? nil : self.settings.withoutPassword(ServerFailure.brief(message))
        let text = brief.map { ": \($0)" } ?? ""
        return FleetError(code: .unreachable, message: "the connection to the server is lost\(text)")
    }

    /// Closes a connection that the server did not accept, and returns the error.
    private func closeRefused() -> FleetError {
        guard let handle = unsafe self.handle else { return self.closeLost() }
        let message = unsafe String(cString: PQerrorMessage(handle))
        let needsPassword = unsafe PQconnectionNeedsPassword(handle) == 1
        self.close()
        let state = ServerFailure.state(in: message)
        let code = needsPassword ? FleetError.Code.refused : state.map { ServerFailure.code(of: $0) } ?? .unreachable
        let text =
            self.settings.withoutPassword(ServerFailure.brief(message))
            ?? "the server can't be used\(state.map { " (SQLSTATE \($0))" } ?? ""); libpq's message holds the password"
        return FleetError(code: code, message: text)
    }

    /// Begins to count the bytes of the next answer.
    func startCounting() {
        guard let handle = unsafe self.handle else { return }
        self.received = 0
        self.receivedBefore = unsafe bf_bytes_received(PQsocket(handle))
    }

    /// Counts the bytes that have arrived, before libpq reads them; throws if they are more than an answer may have.
    ///
    /// Where the kernel has no count, this adds up the waiting bytes, and may miss bytes that arrive while libpq reads.
    func countReceived(_ socket: Int32) throws(FleetError) {
        let all = bf_bytes_received(socket)
        self.received = all >= 0 ? all - self.receivedBefore : self.received + Int64(bf_bytes_waiting(socket))
        guard self.received > Int64(self.manner.bounds.bytes) else { return }
        self.close()
        throw FleetError(code: .unavailable, message: "the server sent an answer that is too large")
    }
}
#endif
