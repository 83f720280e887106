import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the kernel says of the boot that this process runs in; neither value changes while the process lives.
///
/// A failed read is never kept. A process that kept it would write a boot id into the file that no other process has,
/// and all others would be refused.
final class HostBoot: Sendable {
    /// What a `SystemHostClock` says as long as the id can't be read.
    static let unknownID = "unknown"

    let id: String
    /// The shift of `boottime` in this process's time namespace, in nanoseconds.
    private let shift: Int64

    private init(id: String, shift: Int64) { (self.id, self.shift) = (id, shift) }

    private static let known = AtomicLazyReference<HostBoot>()
    /// The shift once it is known, the lowest number before; each reading of the clock loads it.
    private static let knownShift = Atomic<Int64>(.min)

    /// Reads the two values, unless this process has read them before; throws if one can't be read now.
    static func current() throws(BreakerStoreError) -> HostBoot {
        if let known = Self.known.load() { return known }
        let boot = Self.known.storeIfNil(HostBoot(id: try Self.readID(), shift: try Self.readShift()))
        Self.knownShift.store(boot.shift, ordering: .relaxed)
        return boot
    }

    /// The shift of the clock; 0 as long as it can't be read.
    static var clockShift: Int64 {
        let shift = Self.knownShift.load(ordering: .relaxed)
        return shift == .min ? (try? Self.current())?.shift ?? 0 : shift
    }

    /// Throws if a clock has no boot id because this process can't read it now.
    static func requireID(of clock: any HostClock) throws(BreakerStoreError) {
        if clock.bootID == Self.unknownID { _ = try Self.current() }
    }
}

#if canImport(Darwin)
extension HostBoot {
    private static func readID() throws(BreakerStoreError) -> String {
        var bytes = [UInt8](repeating: 0, count: 64)
        var size = bytes.count
        guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0, bytes[0] != 0 else {
            throw BreakerStoreError(
                code: .unavailable,
                message: "could not read this host's boot id 'kern.bootsessionuuid' (errno \(errno))",
                advice: "allow this process to read it"
            )
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Darwin has no time namespaces.
    private static func readShift() throws(BreakerStoreError) -> Int64 { 0 }
}
#else
extension HostBoot {
    private static func readID() throws(BreakerStoreError) -> String {
        let path = "/proc/sys/kernel/random/boot_id"
        errno = 0
        let id = (SmallFile.text(path) ?? "").utf8.filter { $0 > 0x20 }
        guard id.isEmpty else { return String(decoding: id, as: UTF8.self) }
        throw Self.unreadable(path, "this host's boot id")
    }

    private static func readShift() throws(BreakerStoreError) -> Int64 {
        let path = "/proc/self/timens_offsets"
        // The file describes the namespace of future children: it applies to this process only if both are the same.
        guard let own = SmallFile.target(ofLink: "/proc/self/ns/time"),
            let children = SmallFile.target(ofLink: "/proc/self/ns/time_for_children"), own == children
        else { return 0 }
        errno = 0
        guard let offsets = SmallFile.text(path) else {
            throw Self.unreadable(path, "the shift of this process's clock")
        }
        // Hosts without a shift need no parsing.
        guard offsets.utf8.contains(where: { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }) else { return 0 }
        return SystemHostClock.boottimeShift(in: offsets)
    }

    /// The error of a file below `/proc`; called at once after the read, for it takes over `errno`.
    private static func unreadable(_ path: String, _ what: String) -> BreakerStoreError {
        let error = BreakerStoreError(systemError: errno == 0 ? EIO : errno, doing: "read", path: path)
        guard error.code == .notFound || error.code == .permissionDenied else { return error }
        // systemd.exec(5), ProcSubset=: "If "pid", all files and directories not directly associated with process
        // management and introspection are made invisible".
        return BreakerStoreError(
            code: .unavailable, message: "\(what) is in '\(path)', which this process can't see",
            advice: "in a unit of systemd with 'ProcSubset=pid' say 'ProcSubset=all'; elsewhere mount all of /proc",
            path: path)
    }
}
#endif
