package import BreakerStore

extension JSONValue {
    /// A worker as `workers` prints it.
    package static func worker(_ worker: WorkerSnapshot) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .integer(worker.id), "name": .string(worker.name), "pid": .integer(Int64(worker.pid)),
            "probing": .array(worker.probing.map { .string($0) }), "version": .text(worker.version),
        ]
        members.set("since", to: worker.since)
        members.set("degradedSince", to: worker.degradedSince)
        return .object(members)
    }
}
