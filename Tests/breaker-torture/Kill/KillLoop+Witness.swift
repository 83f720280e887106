import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop.Worker {
    /// Opens when all others are dead: no call waits for any of them, and none of them holds a slot.
    func bearWitness() throws -> Int32 {
        let (store, breakers) = try self.inTime("to open") { try self.open() }
        let caller = try KillLoop.Caller(self, 0, store, breakers)
        for circuit in KillLoop.Rule.all.indices {
            let before = try store.circuit(named: KillLoop.Rule.name(circuit))?.state
            let admission = KillLoop.Caller.Call(what: .admit, circuit: circuit)
            let answer = self.inTime("its call of circuit \(circuit)") { caller.perform(admission) }
            if before == .halfOpen {
                if answer != .ran { self.complain("circuit \(circuit): a dead prober's slot is taken (\(answer))") }
                for _ in 1..<KillLoop.Rule.all[circuit].probes {
                    let next = caller.perform(admission)
                    if next != .ran { self.complain("circuit \(circuit): the second slot is taken (\(next))") }
                }
            }
            caller.endPermits { call in
                self.inTime("its report to circuit \(circuit)") { _ = caller.perform(call) }
            }
        }
        store.close()
        return 0
    }

    /// In microseconds; what takes longer hangs.
    static let patience: Int64 = 120_000_000

    /// Complains of what takes too long: without the time in which this process ran, or waited for a processor.
    func inTime<Value>(_ what: String, _ limit: Int64 = Self.patience, _ body: () throws -> Value) rethrows -> Value {
        let (start, used, pauses) = (KillLoop.uptime, Self.timeUsed, Self.pauses)
        let value = try body()
        let all = KillLoop.uptime - start
        let waited = all - (Self.timeUsed - used)
        // Without a pause it waited for nothing: the whole machine stood still.
        if waited > limit, Self.pauses > pauses {
            self.complain("\(what) took \(all) µs, of which it waited \(waited)")
        }
        return value
    }

    /// How often a thread of this process has given up the processor by itself.
    private static var pauses: Int {
        var usage = rusage()
        // RUSAGE_SELF, whose type differs from system to system.
        return unsafe getrusage(0, &usage) == 0 ? usage.ru_nvcsw : 0
    }

    /// What all threads have had of the processors, and what they waited for them, in microseconds.
    private static var timeUsed: Int64 {
        guard let threads = unsafe opendir("/proc/self/task") else { return 0 }
        defer { unsafe closedir(threads) }
        var time: Int64 = 0
        while let entry = unsafe readdir(threads) {
            let name = unsafe withUnsafePointer(to: entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            // https://docs.kernel.org/scheduler/sched-stats.html: "time spent on the cpu (in nanoseconds)", "time spent
            // waiting on a runqueue (in nanoseconds)".
            let numbers = Self.text(ofFile: "/proc/self/task/\(name)/schedstat").split(separator: " ")
            for number in numbers.prefix(2) { time += (Int64(number) ?? 0) / 1_000 }
        }
        return time
    }

    private static func text(ofFile path: String) -> String {
        let descriptor = openForReading(path)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }
}

// The type's own `open` hides the C function.
private func openForReading(_ path: String) -> Int32 { unsafe open(path, O_RDONLY | O_CLOEXEC) }
