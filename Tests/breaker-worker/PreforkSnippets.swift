import BreakerStore
import CTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// The code of "Running workers on a host".

// snippet
/// Runs `work` in so many processes, and anew where one ends badly; returns when all have ended well.
func prefork(_ count: Int, work: () throws -> Void) {
    for _ in 0..<count { start(work) }
    while case let status = wait_for_process(), status >= 0 {
        if status != 0 { start(work) }
    }
}

func start(_ work: () throws -> Void) {
    guard start_process() == 0 else { return }
    do {
        try work()
        exit(0)
    } catch {
        print(error)
        exit(1)
    }
}
// end of snippet

enum PreforkSnippets {
    /// A parent and its workers; the circuit is held in the end.
    static func run(at path: String) throws {
        // snippet
        prefork(4) {
            let store = try CircuitStore(path: path)
            defer { store.close() }
            let users = try store.breaker(.init(name: "users"))
            try serve(users, path)
        }
        // end of snippet
        try Self.open().hold("users", .open)
    }

    /// Reports one failure; the first of all workers is killed then.
    private static func serve(_ users: CircuitBreaker, _ path: String) throws {
        users.recordFailure()
        if unsafe mkdir(path + "-killed", 0o700) == 0 { kill(getpid(), SIGKILL) }
    }

    private static func open() throws -> CircuitStore {
        // snippet
        let directory = ProcessInfo.processInfo.environment["STATE_DIRECTORY"] ?? "/var/lib/shop"
        let store = try CircuitStore(path: directory + "/breakers.db")
        // end of snippet
        return store
    }
}
