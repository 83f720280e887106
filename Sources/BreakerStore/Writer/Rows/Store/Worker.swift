/// A process that has opened the file for writing: one worker for all its stores on the file.
struct Worker: Sendable, Hashable {
    var id: WorkerID
    var name: String
    var pid: Int32
    /// The release of the library that the process runs, as the worker's row says.
    var version: String?
}

extension Database {
    /// Deletes a worker's row and its registrations; adds the counts of a worker without a board to board 0.
    ///
    /// The circuits that the worker had registered count as used until now. Its slots stay in the file: they are free,
    /// because nobody holds its byte, and the next prober records whose they were.
    func removeWorker(
        _ id: WorkerID, at now: StoreTime, by sql: [SQL] = StoreTable.ofWorker
    ) throws(BreakerStoreError) {
        try self.run(
            // A later version's row may not pass the checks of this version's table.
            "UPDATE OR IGNORE circuit SET registered = ?2 WHERE id IN (SELECT circuit FROM registration WHERE worker = ?1)",
            SQLValue(id), .integer(now.microseconds)
        )
        try self.foldCounters(of: id)
        for sql in sql { try self.run(sql, SQLValue(id)) }
    }

    /// Deletes the slots of a worker that leaves: its probes have not been lost by its death.
    func releaseSlots(of id: WorkerID) throws(BreakerStoreError) {
        try self.run("DELETE FROM probe WHERE worker = ?1", SQLValue(id))
    }
}

extension Worker {
    /// The name of the program, without its folders.
    static var processName: String {
        let program = CommandLine.arguments.first ?? ""
        let name = program.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? "worker" : String(name.prefix(200))
    }
}
