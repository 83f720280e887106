/// The number under which a process reports that does not have the store open.
///
/// Below zero, where no worker's id is: so it needs neither a row nor a locked byte. Pid and start time are in it, so
/// anyone can check whether the process lives.
extension RunningProcess {
    private static let pidBits: Int64 = 22

    /// Nil for a pid or a start that has no place in the number; no system of today has such.
    package var reporter: WorkerID? {
        let starts = 0..<(1 << (62 - Self.pidBits))
        guard self.pid > 0, self.pid < 1 << Self.pidBits, starts.contains(Int(self.start)) else { return nil }
        return WorkerID(-(self.start << Self.pidBits | Int64(self.pid)))
    }

    /// The process of such a number; nil for a worker's id.
    package init?(reporter: WorkerID) {
        let reporter = reporter.rawValue
        guard reporter < 0, reporter != Int64.min else { return nil }
        let number = -reporter
        self.init(pid: Int32(number & ((1 << Self.pidBits) - 1)), start: number >> Self.pidBits)
    }
}
