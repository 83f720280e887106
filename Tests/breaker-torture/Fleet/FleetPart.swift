/// Hosts of a fleet whose processes, links, server and network are killed, stopped and cut at random.
struct FleetPart {
    let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        #if PostgreSQL
        try await FleetChaos(self.stage).run()
        #endif
    }

    /// Nil if this build can run the part.
    static var lack: String? {
        #if PostgreSQL
        nil
        #else
        "built without the trait PostgreSQL; make torture PART=fleet builds with it"
        #endif
    }
}
