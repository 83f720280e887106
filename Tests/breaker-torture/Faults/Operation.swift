import BreakerStore

/// One operation of the library, which the part `errors` repeats with another system call failing each time.
struct Operation: Sendable {
    let name: String
    /// What comes before, while nothing fails.
    let prepare: @Sendable (Scene) async throws -> Void
    /// The thing itself; throws only what it may.
    let perform: @Sendable (Scene) async throws -> Void

    static let all: [Operation] = [
        Operation(
            name: "failure",
            prepare: { _ in },
            perform: { await $0.fail($0.counting) }
        ),
        Operation(
            name: "failure of synchronous code",
            prepare: { _ in },
            perform: { scene in scene.failSynchronously(scene.counting) }
        ),
        Operation(
            name: "trip",
            prepare: { scene in for _ in 0..<2 { await scene.fail(scene.tripping) } },
            perform: { await $0.fail($0.tripping) }
        ),
        Operation(
            name: "probe that succeeds",
            prepare: { try await $0.becomeDue() },
            perform: { await $0.succeed($0.tripping) }
        ),
        Operation(
            name: "probe that fails",
            prepare: { try await $0.becomeDue() },
            perform: { await $0.fail($0.tripping) }
        ),
        Operation(
            name: "success that forgets",
            prepare: { await $0.fail($0.consecutive) },
            perform: { await $0.succeed($0.consecutive) }
        ),
        Operation(
            name: "recorded failure",
            prepare: { _ in },
            perform: { await $0.record($0.counting) }
        ),
        Operation(
            name: "registration",
            prepare: { _ in },
            perform: { scene in _ = try scene.store.breaker(.init(name: "new")) }
        ),
        Operation(
            name: "reset",
            prepare: { try await $0.becomeOpen() },
            perform: { try $0.store.reset($0.tripping.name) }
        ),
        Operation(
            name: "hold",
            prepare: { _ in },
            perform: { try $0.store.hold($0.held.name, .open) }
        ),
        Operation(
            name: "release",
            prepare: { try $0.store.hold($0.held.name, .open) },
            perform: { try $0.store.release($0.held.name) }
        ),
        Operation(
            name: "forget",
            prepare: { _ in },
            perform: { try $0.store.forget($0.held.name) }
        ),
        Operation(
            name: "looking",
            prepare: { _ in },
            perform: { scene in
                _ = try scene.store.circuits()
                _ = try scene.store.history()
                _ = try scene.store.workers()
            }
        ),
        Operation(
            name: "checkpoint",
            prepare: { await $0.fillLog() },
            perform: { await $0.fail($0.counting) }
        ),
        Operation(
            name: "closing and opening again",
            prepare: { _ in },
            perform: { try $0.reopen() }
        ),
        Operation(
            name: "creation",
            prepare: { _ in },
            perform: { try $0.createAnother() }
        ),
    ]
}
