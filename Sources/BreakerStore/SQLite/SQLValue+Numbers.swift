/// Binds and reads the numbers that have types of their own.
extension SQLValue {
    init(_ worker: WorkerID?) { self.init(worker?.rawValue) }
}

extension Row {
    func worker(_ column: Int32) -> WorkerID { WorkerID(self.integer(column)) }

    func optionalWorker(_ column: Int32) -> WorkerID? { self.optionalInteger(column).map { WorkerID($0) } }
}
