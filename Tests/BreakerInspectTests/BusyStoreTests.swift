import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// Others keep the store locked.
@Suite(.timeLimit(.minutes(10))) struct BusyStoreTests {
    static let locks = [
        ["BEGIN IMMEDIATE"],
        // A store that is being migrated.
        ["BEGIN IMMEDIATE", "CREATE TABLE later (x INTEGER) STRICT", "PRAGMA user_version = 3001"],
    ]

    private static let looks = [
        "list", "show 'b open'", "check 'a*'", "workers", "history", "wait 'b open' --for open",
    ]
    private static let changes = [
        "reset 'b open'", "hold open 'a closed'", "release 'd held open'", "forget --yes --force 'a closed'",
    ]

    /// A person waits, but not as long as a service that opens the store: for ten seconds.
    @Test func isPatientForSeconds() throws {
        let context = try Context(
            Arguments([], of: Tool.program), environment: [:], console: RecordingConsole(), clock: ManualHostClock())
        let configuration = context.configuration(.existing)
        #expect(configuration.openingPatience == .seconds(3))
        #expect(configuration.busyTimeout == .seconds(2))
    }

    @Test func namesAWriterThatIsNotStopped() async throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", failures: 2)
        let holder = try LockHolder(shop.path, ["BEGIN IMMEDIATE"])
        let result = try await Child.shellAside("\"$0\" reset a", store: shop.path)
        #expect(result.code == 75)
        #expect(
            result.talk == "breaker-inspect: cannot open '\(shop.path)': process \(holder.pid) (python3) keeps all "
                + "others from writing\nhint: wait until its transaction is over, or end it\n")
    }

    /// A host may use only hooks: then no worker is degraded while another program keeps the lock.
    @Test func doctorNamesAWriterThatNoWorkerWaitsFor() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        let holder = try LockHolder(shop.path, ["BEGIN IMMEDIATE"])
        let doctor = shop.inspect("doctor")
        #expect(doctor.code == .failed)
        #expect(
            doctor.output.contains("writers  wrong  process \(holder.pid) (python3) keeps all others from writing"),
            "\(doctor.output)")
    }

    /// A process that commits all the time has the lock whenever the doctor looks.
    @Test func doctorBlamesNoWriterThatCommits() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        shop.store.close()
        let finding = { (pause: () -> Void) in
            let facts = try StoreFiles(path: shop.path)
            return WriterCheck.finding(facts, isWaitedFor: false, facts.watch(shop.clock), pause: pause)
        }
        let change = "UPDATE circuit SET registered = registered + 1"
        let holder = try LockHolder(shop.path, ["BEGIN IMMEDIATE", change])
        var pauses = 0
        #expect(try finding { pauses += 1 }.status == .wrong)
        #expect(pauses > 10)
        pauses = 0
        let busy = try finding {
            pauses += 1
            // Only before the last look.
            guard pauses == 19 else { return }
            #expect(throws: Never.self) { for line in ["COMMIT", "BEGIN IMMEDIATE", change] { try holder.run(line) } }
        }
        #expect(busy == .ok("writers", "no process keeps others from writing"))
        #expect(pauses == 19)
        // A writer that is done is gone at the next look.
        pauses = 0
        let done = try finding {
            pauses += 1
            #expect(throws: Never.self) { try holder.run("COMMIT") }
        }
        #expect(done.status == .ok && pauses == 1)
        // A store whose lock is free costs no second look.
        #expect(try finding { pauses += 1 }.status == .ok && pauses == 1)
    }

    @Test func changesNothingAndLetsReadersRead() async throws {
        let shops = try Self.locks.map { _ in try Shop(clock: SystemHostClock()) }
        var holders: [LockHolder] = []
        for (shop, statements) in zip(shops, Self.locks) {
            try shop.fillWithStates()
            let holder = try LockHolder(shop.path, statements)
            holders.append(holder)
            try holder.stop()
            for look in Self.looks {
                let result = try Child.shell("\"$0\" \(look)", store: shop.path)
                #expect(result.code == 0, "\(look): \(result.talk)")
            }
            let doctor = try Child.shell("\"$0\" doctor", store: shop.path)
            #expect(doctor.code == 1)
            #expect(
                doctor.output.contains("process \(holder.pid) (python3) is stopped and keeps all others from writing"))
        }
        // All at once: each waits as long as a person would.
        let paths = shops.map(\.path)
        let lines = paths.flatMap { path in
            Self.changes.map { "{ \"$0\" \($0) --store '\(path)'; echo code $?; } &" }
        }
        let result = try await Child.shellAside(lines.joined(separator: " ") + " wait", store: paths[0])
        #expect(result.output == String(repeating: "code 75\n", count: lines.count))
        let talk = result.talk.split(separator: "\n")
        #expect(talk.count == 2 * lines.count)
        for path in paths {
            #expect(
                talk.count { $0.hasPrefix("breaker-inspect: cannot open '\(path)': process ") } == Self.changes.count)
        }
        for holder in holders {
            #expect(talk.count { $0.contains("process \(holder.pid) (python3) is stopped and keeps") } == 4)
            #expect(talk.count { $0.hasPrefix("hint: let it go on with 'kill -CONT \(holder.pid)'") } == 4)
        }
        for shop in shops { #expect(try await shop.store.circuit(named: "b open")?.state != .closed) }
    }
}
