/// Binds and reads the numbers that have types of their own.
extension SQLValue {
    init(_ worker: WorkerID?) { self.init(worker?.rawValue) }
    init(_ epoch: Epoch?) { self.init(epoch?.rawValue) }
    init(_ generation: WindowGeneration?) { self.init(generation?.rawValue) }
}

extension Row {
    func worker(_ column: Int32) -> WorkerID { WorkerID(self.integer(column)) }

    func optionalWorker(_ column: Int32) -> WorkerID? { self.optionalInteger(column).map { WorkerID($0) } }

    func epoch(_ column: Int32) -> Epoch { Epoch(self.integer(column)) }
}
