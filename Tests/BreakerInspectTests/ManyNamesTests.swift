import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// Completing in a store of very many circuits.
@Suite(.timeLimit(.minutes(10))) struct ManyNamesTests {
    static let count = 100_000

    private func shop(_ count: Int) throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("one", group: "shop")
        shop.store.close()
        try shop.copyCircuit(times: count, named: "'service ' || (100000 + i)")
        return shop
    }

    /// What all of the offered names have in common is what a shell puts on the line.
    @Test func offersTheFirstAndTheLast() throws {
        let shop = try self.shop(2_000)
        let names = shop.inspect("complete", "zsh", "--", "show", "service").output.split(separator: "\n").dropFirst()
        #expect(names.count == StoreNames.limit + 16)
        #expect(names.first == "service 100000")
        #expect(names.last == "service 101999")
        let few = shop.inspect("complete", "zsh", "--", "show", "service 1019").output.split(separator: "\n")
        #expect(few.count == 101)
    }

    #if os(Linux)
    /// The bytes that are read say it on a busy machine, too: about as many as of a store that is a hundredth as large.
    @Test func readsFewPages() throws {
        let (small, large) = (try self.shop(1_000), try self.shop(Self.count))
        for words in ["show 'service 1'", "show ''", "list --group ''"] {
            // The kernel adds up what a process and its ended children have read.
            let line = "\"$0\" complete zsh -- \(words) >/dev/null; grep rchar /proc/$$/io"
            func read(_ shop: Shop) throws -> Int {
                let output = try Child.shell(line, store: shop.path).output
                return try #require(output.split(separator: " ").last.flatMap { Int($0.dropLast()) })
            }
            let (few, many) = (try read(small), try read(large))
            #expect(many - few < 1_000_000, "\(words): \(few) and \(many) bytes")
        }
    }
    #endif
}
