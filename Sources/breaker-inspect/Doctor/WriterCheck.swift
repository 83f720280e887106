import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the process that holds the store's write lock while others wait for it.
struct WriterCheck {
    private static let looks = 20

    private let holder: OtherProcess

    /// The process that has the lock now; nil if there is none.
    init?(_ facts: StoreFiles) {
        guard let holder = IndexHolder.writer(facts) else { return nil }
        self.holder = holder
    }

    /// Reports a process that keeps the lock.
    ///
    /// - Parameters:
    ///   - isWaitedFor: whether workers have given up waiting; then one look is enough.
    ///   - watch: sees each commit; it has seen none yet.
    ///   - pause: runs between two looks.
    static func finding(
        _ facts: StoreFiles, isWaitedFor: Bool, _ watch: ChangeWatch, pause: () -> Void = { usleep(50_000) }
    ) -> Finding {
        let check = "writers"
        guard let writer = WriterCheck(facts),
            writer.holder.isStopped || isWaitedFor || writer.keepsLock(facts, watch, pause)
        else { return .ok(check, "no process keeps others from writing") }
        return .wrong(check, writer.sentence, writer.advice)
    }

    /// Whether the process has the lock at each of many looks, within one transaction.
    ///
    /// A healthy service that commits all the time has the lock at most looks, too, but each commit changes the file.
    private func keepsLock(_ facts: StoreFiles, _ watch: ChangeWatch, _ pause: () -> Void) -> Bool {
        do throws(BreakerStoreError) {
            // The watch compares with what it reads here.
            _ = try watch.inspectIfChanged { _, _ in }
            for _ in 1..<Self.looks {
                pause()
                guard IndexHolder.writer(facts)?.pid == self.holder.pid else { return false }
                guard try watch.inspectIfChanged({ _, _ in }) == nil else { return false }
            }
            return true
        } catch {
            return false
        }
    }

    /// The effect of the process on the others.
    var sentence: String {
        "\(self.holder.description) \(self.holder.isStopped ? "is stopped and " : "")keeps all others from writing"
    }

    var advice: String {
        self.holder.isStopped
            ? self.holder.adviceWhenStopped
            : "wait until its transaction is over, or end it"
    }
}
