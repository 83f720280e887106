#if PostgreSQL
import CPostgreSQL

extension ServerConnection {
    /// Why a wait has ended.
    enum Waking: Sendable {
        /// The server sent something; `takeNotifications` returns the notifications among it.
        case server
        /// Another thread woke this one.
        case owner
        case time
    }

    /// Waits for the server, or for another thread that wakes this one; throws if the connection is lost.
    func wait(for duration: Duration, orWoken wakeUp: WakeUp) throws(FleetError) -> Waking {
        guard let handle = unsafe self.handle else { throw Self.closed }
        guard self.notifications.isEmpty else { return .server }
        let socket = unsafe PQsocket(handle)
        let ready = Poll.wait(for: duration, reading: [socket, wakeUp.descriptor])
        if ready.contains(socket) {
            try self.countReceived(socket)
            guard unsafe PQconsumeInput(handle) == 1 else { throw self.lost() }
            self.collectNotifications()
            if unsafe PQstatus(handle) == CONNECTION_BAD { throw self.lost() }
        }
        if ready.contains(wakeUp.descriptor) {
            wakeUp.drain()
            return .owner
        }
        return ready.isEmpty ? .time : .server
    }

    /// Returns the texts of the notifications since the last call.
    ///
    /// An empty text stands for all that were dropped because there were too many.
    func takeNotifications() -> [String] {
        defer { self.notifications = [] }
        return self.notifications
    }

    /// Takes the notifications out of libpq, which would keep any number of them.
    func collectNotifications() {
        guard let handle = unsafe self.handle else { return }
        while let notification = unsafe PQnotifies(handle) {
            defer { unsafe PQfreemem(notification) }
            if self.notifications.count < self.manner.bounds.notifications {
                self.notifications.append(unsafe String(cString: notification.pointee.extra))
            } else if self.notifications.last != "" {
                self.notifications.append("")
            }
        }
    }
}
#endif
