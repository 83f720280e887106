/// Lets nobody on before all have come.
actor Barrier {
    private let count: Int
    private var arrived = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { self.count = count }

    func arrive() async {
        self.arrived += 1
        guard self.arrived < self.count else {
            for continuation in self.waiting { continuation.resume() }
            self.waiting = []
            return
        }
        await withCheckedContinuation { self.waiting.append($0) }
    }
}
