#if PostgreSQL
import CPostgreSQL

extension ServerConnection {
    /// The reason why a wait has ended.
    enum Waking: Sendable {
        /// The server has sent bytes; `drainNotifications` returns the notifications in them.
        case server
        /// Another thread has woken this one.
        case owner
        /// The time is over.
        case time
    }

    /// Waits until the server sends something, or another thread wakes this one; throws if the connection is lost.
    func wait(for duration: Duration, orWoken wakeUp: WakeUp) throws(FleetError) -> Waking {
        guard let handle = unsafe self.handle else { throw Self.closed }
        guard self.notifications.isEmpty else { return .server }
        let socket = unsafe PQsocket(handle)
        let ready = Poll.wait(for: duration, reading: [socket, wakeUp.descriptor])
        if ready.contains(socket) {
            try self.countReceived(socket)
            guard unsafe PQconsumeInput(handle) == 1 else { throw self.closeLost() }
            self.collectNotifications()
            if unsafe PQstatus(handle) == CONNECTION_BAD { throw self.closeLost() }
        }
        if ready.contains(wakeUp.descriptor) {
            wakeUp.drain()
            return .owner
        }
        return ready.isEmpty ? .time : .server
    }

    /// Returns the notifications since the last call, and forgets them.
    ///
    /// An empty text stands for all notifications that were dropped because there were too many.
    func drainNotifications() -> [String] {
        defer { self.notifications = [] }
        return self.notifications
    }

    /// Moves the notifications out of libpq, which would store any number of them.
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
