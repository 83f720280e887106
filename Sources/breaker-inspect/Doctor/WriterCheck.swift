import BreakerStore

/// Finds the process that holds the store's write lock while others wait for it.
struct WriterCheck {
    private let holder: OtherProcess

    /// The process that has the lock now; nil if there is none.
    init?(_ facts: StoreFiles) {
        guard let holder = IndexHolder.writer(facts) else { return nil }
        self.holder = holder
    }

    /// Reports a process that holds the lock.
    ///
    /// - Parameter isWaitedFor: whether workers have given up waiting; then a running process is worth a report, too.
    static func finding(_ facts: StoreFiles, isWaitedFor: Bool) -> Finding {
        let check = "writers"
        guard let writer = WriterCheck(facts), writer.holder.isStopped || isWaitedFor else {
            return .ok(check, "no stopped process keeps others from writing")
        }
        return .wrong(check, writer.sentence, writer.advice)
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
