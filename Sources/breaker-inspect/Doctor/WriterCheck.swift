import BreakerStore

/// Finds the process that keeps the store's write lock: all others wait for it.
struct WriterCheck {
    private let holder: IndexHolder

    /// Who holds the lock just now; nil if nobody does.
    init?(_ facts: StoreFiles) {
        guard let holder = IndexHolder.writer(facts) else { return nil }
        self.holder = holder
    }

    /// - Parameter isWaitedFor: whether workers have waited for the lock in vain: then a process that runs is worth a
    ///   word, too.
    static func finding(_ facts: StoreFiles, isWaitedFor: Bool) -> Finding {
        let check = "writers"
        guard let writer = WriterCheck(facts), writer.holder.isStopped || isWaitedFor else {
            return .ok(check, "no stopped process keeps others from writing")
        }
        return .wrong(check, writer.sentence, writer.advice)
    }

    /// What it does to the others.
    var sentence: String {
        "\(self.holder.description) \(self.holder.isStopped ? "is stopped and " : "")keeps all others from writing"
    }

    var advice: String {
        self.holder.isStopped
            ? "let it go on with 'kill -CONT \(self.holder.pid)', or end it with 'kill -KILL \(self.holder.pid)'"
            : "wait until its transaction is over, or end it"
    }
}
