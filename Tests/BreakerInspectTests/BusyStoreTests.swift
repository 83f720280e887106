import BreakerStore
import Foundation
import Testing

@testable import breaker_inspect

/// Others keep the store locked.
@Suite(.timeLimit(.minutes(1))) struct BusyStoreTests {
    static let locks = [
        ["BEGIN IMMEDIATE"],
        // A store that is being migrated.
        ["BEGIN IMMEDIATE", "ALTER TABLE circuit ADD COLUMN later TEXT", "PRAGMA user_version = 1001"],
    ]

    @Test(arguments: Self.locks)
    func changesNothingAndLetsLook(statements: [String]) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.fillWithStates()
        let holder = try LockHolder(shop.path, statements)
        try holder.stop()
        for look in ["list", "show 'b open'", "check 'a*'", "workers", "history", "wait 'b open' --for open"] {
            let result = try Child.shell("\"$0\" \(look)", store: shop.path)
            #expect(result.code == 0, "\(look): \(result.talk)")
        }
        let doctor = try Child.shell("\"$0\" doctor", store: shop.path)
        #expect(doctor.code == 1)
        #expect(doctor.output.contains("process \(holder.pid) is stopped and keeps all others from writing"))
        // All at once: each waits as long as a person would.
        let changes = [
            "reset 'b open'", "hold open 'a closed'", "release 'd held open'", "forget --yes --force 'a closed'",
        ]
        let line = changes.map { "{ \"$0\" \($0); echo code $?; } &" }.joined(separator: " ") + " wait"
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == String(repeating: "code 75\n", count: 4))
        let talk = result.talk.split(separator: "\n")
        #expect(talk.count == 8)
        #expect(talk.count { $0.hasPrefix("breaker-inspect: cannot open '\(shop.path)': ") } == 4)
        #expect(talk.count { $0.hasPrefix("hint: try again; a process that was stopped while it wrote") } == 4)
        #expect(try shop.store.circuit(named: "b open")?.state != .closed)
    }
}
