import BreakerStore
import BreakerStoreJSON
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// Very many circuits: each costs little memory.
@Suite(.timeLimit(.minutes(10))) struct ManyCircuitsTests {
    static let count = 20_000

    private func shop(of count: Int) throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("one", group: "shop", failures: 2, error: "connection refused by 10.0.0.1:443")
        shop.store.close()
        try shop.copyCircuit(times: count, named: "'service-' || ((i + 1) * 7919 % 99991)")
        return shop
    }

    /// The most memory that a line of the tool took, in bytes.
    private func peak(_ line: String, _ shop: Shop) throws -> Int {
        // A small process: what a child needs before it runs its program counts as the child's.
        let program = """
            import os, sys
            silence = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
            child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silence)
            print(os.wait4(child, 0)[2].ru_maxrss)
            """
        let result = try Child.shell("exec python3 -I -S -c '\(program)' \"$0\" \(line)", store: shop.path)
        return (try #require(Int(result.output.dropLast()))) * 1_024
    }

    @Test func costLittleMemoryEach() throws {
        let shop = try self.shop(of: Self.count)
        let base = try self.peak("list one", shop)
        for (line, limit) in [("list", 300), ("list --json", 420), ("check 'service-1*'", 900)] {
            let each = (try self.peak(line, shop) - base) / Self.count
            #expect(each <= limit, "\(line): \(each) bytes for each circuit")
        }
    }

    @Test func areListedInOrder() throws {
        // Enough for several blocks of a list's memory.
        let shop = try self.shop(of: 3_000)
        let names = shop.inspect("list").output.split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
        #expect(names.count == 3_001)
        #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let json = shop.inspect("list", "--json").output.matches(of: /"name":"([^"]*)"/).map { $0.1 }
        #expect(json == names)
    }

    @Test(arguments: [0, 1, 2, 3, 7, 64, 65, 1_000])
    func areSortedAsTheStandardLibraryDoes(count: Int) {
        let keys = (0..<count).map { $0 * 7_919 % 31 }
        let expected = keys.indices.sorted { keys[$0] == keys[$1] ? $0 < $1 : keys[$0] < keys[$1] }
        #expect(RowOrder.sorted(count) { keys[$0] < keys[$1] } == expected)
    }
}
