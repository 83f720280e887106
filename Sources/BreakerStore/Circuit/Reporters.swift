/// The workers that count as reporters of failures, each with its newest failure: usually those that live.
///
/// Dead workers count only if no living worker has reported, and then all together as one. So a process that crashes in
/// a loop counts once, by its living incarnation.
struct Reporters {
    private var newest: [WorkerID?: Circuit.Failure] = [:]

    /// Asks which workers live only if there are at least `minimum`: each question is a system call, and with fewer
    /// workers the answers don't change the decision.
    ///
    /// - Parameter failures: at least the newest failure of each worker.
    init(_ failures: [Circuit.Failure], minimum: Int, _ isAlive: (WorkerID) -> Bool) {
        let workers = Set(failures.map(\.worker))
        let living = workers.count < minimum ? workers : workers.filter(isAlive)
        for failure in failures where living.isEmpty || living.contains(failure.worker) {
            let reporter = living.isEmpty ? nil : failure.worker
            self.newest[reporter] = max(self.newest[reporter] ?? failure, failure)
        }
    }

    var count: Int { self.newest.count }

    /// Whether a failure is the newest of its reporter.
    ///
    /// Such a failure is kept however old it is: no noisy or crashing worker can hide the other workers.
    func needs(_ failure: Circuit.Failure) -> Bool { self.newest.values.contains(failure) }
}
