import BreakerStore
package import FoundationEssentials

/// A clock in a file: a test moves it, and all processes that map the file read it.
package final class SharedClock: HostClock {
    private enum Field: Int {
        case boot, uptime, wall
    }

    package let path: String
    private let values: SharedNumbers

    /// Maps the file; creates it, standing 1,000 s after its first boot, at 2026-01-01T00:00:00Z.
    package init(path: String) throws {
        self.path = path
        self.values = try SharedNumbers(path: path)
        if self[.boot] == 0 {
            self[.uptime] = 1_000_000_000
            self[.wall] = 1_767_225_600_000_000
            self[.boot] = 1
        }
    }

    package var bootID: String { "shared-boot-\(self[.boot])" }

    package var uptime: Duration { .microseconds(self[.uptime]) }

    package var wallTime: Date { Date(timeIntervalSince1970: Double(self[.wall]) / 1_000_000) }

    /// Lets time pass for all processes: uptime and wall time move on together.
    package func advance(by duration: Duration) {
        self[.uptime] += duration.wholeMicroseconds
        self[.wall] += duration.wholeMicroseconds
    }

    /// Returns once somebody has let so much time pass.
    package func sleep(for duration: Duration) async throws {
        let end = self.uptime + duration
        while self.uptime < end { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Lets a little time pass, in one step whoever else does; returns the uptime in microseconds that nobody else
    /// gets.
    package func tick(_ microseconds: Int64 = 10) -> Int64 {
        self.values.add(microseconds, at: Field.wall.rawValue)
        return self.values.add(microseconds, at: Field.uptime.rawValue)
    }

    /// Sets the wall time on, or back when negative; uptime stays.
    package func stepWallTime(by duration: Duration) { self[.wall] += duration.wholeMicroseconds }

    /// Boots the host anew, which no process may live to see.
    package func reboot(downFor duration: Duration) {
        self[.boot] += 1
        self[.uptime] = 0
        self[.wall] += duration.wholeMicroseconds
    }

    private subscript(field: Field) -> Int64 {
        get { self.values[field.rawValue] }
        set { self.values[field.rawValue] = newValue }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        self.components.seconds * 1_000_000 + self.components.attoseconds / 1_000_000_000_000
    }
}
