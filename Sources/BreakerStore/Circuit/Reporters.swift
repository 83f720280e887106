/// The newest failure of each reporter: each live worker is one, all dead workers together are one.
///
/// So a crash loop counts once.
struct Reporters {
    private var newest: [Int64?: Circuit.Failure] = [:]
    private let living: Set<Int64>

    /// - Parameter failures: at least the newest failure of each worker.
    init(_ failures: [Circuit.Failure], _ isAlive: (Int64) -> Bool) {
        self.living = Set(failures.map(\.worker)).filter(isAlive)
        for failure in failures {
            let reporter = self.reporter(of: failure)
            self.newest[reporter] = max(self.newest[reporter] ?? failure, failure)
        }
    }

    var count: Int { self.newest.count }

    /// Whether a failure is the newest of its reporter, and fewer than `count` reporters have newer failures.
    ///
    /// Such a failure is kept however old it is: no noisy or crashing worker can hide the other workers.
    func needs(_ failure: Circuit.Failure, toHave count: Int) -> Bool {
        self.newest[self.reporter(of: failure)] == failure && self.newest.values.count { $0 > failure } < count
    }

    /// The number of the reporter; nil for the dead workers.
    private func reporter(of failure: Circuit.Failure) -> Int64? {
        self.living.contains(failure.worker) ? failure.worker : nil
    }
}
