#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A moment of the host's clock, which all its processes read alike.
struct Moment: Comparable {
    var nanoseconds: Int64

    static var now: Moment {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func < (one: Moment, other: Moment) -> Bool { one.nanoseconds < other.nanoseconds }

    static func - (end: Moment, start: Moment) -> Duration { .nanoseconds(end.nanoseconds - start.nanoseconds) }

    static func + (start: Moment, time: Duration) -> Moment {
        let (seconds, attoseconds) = time.components
        return Moment(nanoseconds: start.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
