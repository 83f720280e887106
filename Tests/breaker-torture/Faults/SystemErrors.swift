import BreakerStore
import BreakerTestSupport
import CFaults
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Lets the Nth system call of SQLite fail, for every N until an operation needs no more, once and for ever, for every
/// operation of the library: calls run, are counted, and come back to the file.
struct SystemErrors {
    /// What fails, and how.
    struct Fault: CustomStringConvertible {
        let name: String
        let kinds: faults_kind
        let error: Int32

        var description: String { self.name }

        static let all = [
            Fault(name: "EIO", kinds: .all, error: EIO),
            Fault(name: "ENOSPC", kinds: .growing, error: ENOSPC),
            Fault(name: "EIO behind the first page", kinds: FAULTS_READ_BEHIND, error: EIO),
            Fault(name: "EDQUOT", kinds: .growing, error: EDQUOT),
            Fault(name: "EACCES", kinds: FAULTS_OPEN | FAULTS_LOOK, error: EACCES),
            Fault(name: "short write", kinds: FAULTS_SHORT_WRITE, error: ENOSPC),
            Fault(name: "failed fsync", kinds: FAULTS_SYNC, error: EIO),
            Fault(name: "failed mapping", kinds: FAULTS_MAP, error: ENOMEM),
        ]
    }

    private let stage: Stage
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        guard faults_install() == 0 else { throw SystemError("take over SQLite's system calls", code: EINVAL) }
        for (place, operation) in Operation.all.enumerated() {
            for (number, fault) in Fault.all.enumerated() {
                for isForever in [false, true] where self.isTried(place + number, isForever) {
                    try await self.run(operation, fault, isForever)
                }
            }
        }
    }

    /// The tests try half of it, by turns.
    private func isTried(_ number: Int, _ isForever: Bool) -> Bool {
        !self.stage.options.isShort || number.isMultiple(of: 2) == isForever
    }

    /// Every N, until the operation needs fewer calls.
    private func run(_ operation: Operation, _ fault: Fault, _ isForever: Bool) async throws {
        var number = 1
        while self.report.goesOn {
            let what = "\(operation.name), \(fault) at call \(number)\(isForever ? " and ever after" : "")"
            let scene = try Scene("\(self.stage.directory)/\(self.report.count(of: "cases"))", what, self.report)
            defer { scene.clear() }
            try await operation.prepare(scene)
            faults_arm(fault.kinds.rawValue, fault.error, number, isForever)
            try await scene.perform(operation)
            if isForever { try await scene.protectInMemory() }
            let calls = faults_disarm()
            try await scene.comeBack()
            self.report.add(1, "cases")
            if calls < number { return }
            self.report.add(1, "faults")
            // The tests try some of them, the more apart the later.
            number += self.stage.options.isShort ? max(1, number) : 1
        }
    }
}

extension faults_kind {
    static let growing: faults_kind = FAULTS_WRITE | FAULTS_RESIZE
    static let all: faults_kind = FAULTS_OPEN | FAULTS_READ | FAULTS_WRITE | FAULTS_RESIZE | FAULTS_LOOK | FAULTS_SYNC

    static func | (left: faults_kind, right: faults_kind) -> faults_kind {
        faults_kind(left.rawValue | right.rawValue)
    }
}
