import BreakerTestSupport

/// What is wrong around a store, rather than in it.
struct Surroundings {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    func cases() -> [HostileCase] {
        let stock = self.stock
        return ["/nonexistent/tmp", "/dev/null", ""].map { temporary in
            // The tool reads such a store from a copy of its own.
            var made = HostileCase(kind: "surroundings", name: "TMPDIR is '\(temporary)', there is no index") { place in
                try stock.put(stock.stores[0], place)
                Directory.remove(place.path + "-shm")
            }
            made.temporary = temporary
            made.judge = { _, runs in
                runs.contains { $0.said.contains("holds no store yet") } ? ["a whole store 'holds no store yet'"] : []
            }
            return made
        }
    }
}
