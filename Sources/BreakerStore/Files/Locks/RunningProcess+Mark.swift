/// A short mark of the process that holds a probe's slot.
///
/// Its pid alone does not: each container counts its processes from 1, and pids are used again.
extension RunningProcess {
    /// A 32-bit hash of the pid's namespace, the pid and the start.
    package var mark: UInt32 {
        var fingerprint = Fingerprint()
        fingerprint.add(bytesOf: SmallFile.target(ofLink: "/proc/self/ns/pid") ?? "")
        fingerprint.add(Int64(self.pid))
        fingerprint.add(self.start)
        return UInt32(truncatingIfNeeded: fingerprint.value)
    }

    /// A probe's token with the mark of this process in its lower half.
    package func marking(_ token: Int64) -> Int64 { (token >> 32) << 32 | Int64(self.mark) }

    package func hasMarked(_ token: Int64) -> Bool { UInt32(truncatingIfNeeded: token) == self.mark }
}
