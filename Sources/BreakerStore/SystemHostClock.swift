#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
#if canImport(SwiftOverlayShims)
// Because another file imports `Synchronization`, the compiler takes `SwiftOverlayShims` for the module that defines
// the fields of `timespec`.
import SwiftOverlayShims
#endif

/// The clock of the host that this process runs on.
public struct SystemHostClock: HostClock {
    /// Creates the clock; all instances are alike.
    public init() {}

    /// The kernel's id of this boot, or `unknown` as long as it can't be read: then no store can be opened.
    public var bootID: String { (try? HostBoot.current())?.id ?? HostBoot.unknownID }

    /// The time since boot, including suspension, without the shift of a time namespace, so that containers agree with
    /// their host.
    public var uptime: Duration { .nanoseconds(Self.uptimeNanoseconds) }

    static var uptimeNanoseconds: Int64 {
        var time = timespec()
        #if canImport(Darwin)
        // clock_gettime(3), macOS: CLOCK_MONOTONIC_RAW "will increment monotonically, ... unaffected by frequency or
        // time adjustments" and counts the time asleep.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #else
        // clock_gettime(2): CLOCK_BOOTTIME is "identical to CLOCK_MONOTONIC, except that it also includes any time that
        // the system is suspended".
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) - HostBoot.clockShift
    }

    /// The system's wall time.
    public var wallTime: Date { Date() }

    /// The Unix time in seconds at which the host booted, by the wall clock as it is set now; nil if unreadable.
    ///
    /// The kernel keeps this number, so that all processes read the same number. A process that reads the two clocks
    /// one after the other would get another number each time.
    static var bootSecond: Int64? {
        #if canImport(Darwin)
        var time = timeval()
        var size = MemoryLayout<timeval>.size
        guard unsafe sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 else { return nil }
        return Int64(time.tv_sec)
        #else
        let line = SmallFile.text("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Int64($0.dropFirst("btime ".count)) }
        #endif
    }

    /// The shift of `boottime` in nanoseconds, from the text of `/proc/self/timens_offsets`; 0 if the text has none.
    ///
    /// time_namespaces(7): each line is `<clock-id> <offset-secs> <offset-nanosecs>`; the kernel writes the clock as a
    /// word.
    static func boottimeShift(in offsets: some StringProtocol) -> Int64 {
        for line in offsets.utf8.split(separator: 0x0A) {
            let fields = line.split { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 3, fields[0] == "boottime" || fields[0] == "7",
                let seconds = Int64(fields[1]), let nanoseconds = Int64(fields[2])
            else { continue }
            let (whole, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (shift, tooFar) = whole.addingReportingOverflow(nanoseconds)
            return tooLong || tooFar ? 0 : shift
        }
        return 0
    }
}
