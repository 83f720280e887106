import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the uptime of a host's clock.
struct UptimeClock: Sendable {
    private let host: any HostClock
    /// Whether `now` reads the system's clock without a `Duration`: a refusal reads the clock, and must be fast.
    let isSystem: Bool

    init(_ host: any HostClock) {
        self.host = host
        self.isSystem = host is SystemHostClock
    }

    var now: Uptime {
        self.isSystem ? Self.ofSystem : Uptime(microseconds: self.host.uptime.saturatingMicroseconds)
    }

    static var ofSystem: Uptime { Uptime(microseconds: SystemHostClock.uptimeNanoseconds / 1_000) }
}

/// Reads store time: the host's uptime plus an offset that the file keeps, in microseconds.
final class StoreClock: Sendable {
    let host: any HostClock
    private let hostUptime: UptimeClock
    private let offsetInForce = Atomic<Int64>(0)
    private let hasOffset = Atomic<Bool>(false)
    private let wall: WallOffset

    init(_ host: any HostClock) {
        self.host = host
        self.hostUptime = UptimeClock(host)
        self.wall = WallOffset(host)
        // The in-memory fallback needs store time before any file is read: the wall clock's offset counts until then.
        self.offsetInForce.store(self.wall.measured, ordering: .relaxed)
    }

    /// The file's offset, as this process last read or set it; the wall clock's until the file is first read.
    ///
    /// All processes with one file share the offset.
    var offset: Int64 {
        get { self.offsetInForce.load(ordering: .relaxed) }
        set {
            self.offsetInForce.store(newValue, ordering: .relaxed)
            self.hasOffset.store(true, ordering: .relaxed)
        }
    }

    /// Whether the offset comes from a file.
    var isSet: Bool { self.hasOffset.load(ordering: .relaxed) }

    /// Adopts an offset that was read, unless a greater one was read before.
    ///
    /// Within a boot the file's offset only rises: a lower one comes from a read that began before the last
    /// transaction. If a program has set the file's clock back, the next transaction adopts the lower offset.
    func raiseOffset(to offset: Int64) {
        guard self.isSet else {
            self.offset = offset
            return
        }
        _ = self.offsetInForce.max(offset, ordering: .relaxed)
    }

    var uptime: Uptime { self.hostUptime.now }

    var isSystem: Bool { self.hostUptime.isSystem }

    var now: StoreTime { self.time(of: self.uptime) }

    /// Blocks the thread for a time of the host's clock, or of the system's clock if the host's can't block.
    func block(for duration: Duration) {
        if let clock = self.host as? any BlockingHostClock {
            clock.block(for: duration)
        } else {
            Deadline(after: duration).sleep()
        }
    }

    /// The store time that belongs to an uptime, past or future.
    func time(of uptime: Uptime) -> StoreTime { StoreTime(microseconds: uptime.adding(self.offset).microseconds) }

    /// The uptime at which a store time is reached.
    func uptime(of time: StoreTime) -> Uptime {
        Uptime(microseconds: time.subtracting(self.offset).microseconds)
    }

    /// Returns a conversion from stamps to dates by the wall clock.
    ///
    /// The same stamp becomes the same date in all processes of the host, until an operator sets the wall clock.
    func dates() -> (StoreTime) -> Date {
        let ahead = self.wall.ahead(ofStoreTimeAt: self.offset)
        return { Date(timeIntervalSince1970: Double($0.microseconds.addingSaturating(ahead)) / 1_000_000) }
    }

    /// The offset at which store time reads as Unix time.
    var unixOffset: Int64 { self.wall.measured }
}

extension StoreClock {
    /// Adopts the file's offset, for a reader; without a readable row the offset stays.
    func follow(_ row: ClockRow?) {
        guard let row else { return }
        let offset = row.offsetToRead(self)
        if row.boot == self.host.bootID { self.raiseOffset(to: offset) } else { self.offset = offset }
    }

    func follow(_ database: Database) throws(BreakerStoreError) { self.follow(try ClockRow.read(database)) }
}
