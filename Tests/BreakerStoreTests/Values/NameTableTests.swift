import BreakerTestSupport
import CTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The table holds what a dictionary would hold whose keys are the names' bytes.
struct NameTableTests {
    private static func isEqual(_ table: NameTable<Int>, _ model: [[UInt8]: Int]) -> Bool {
        let found = table.all.map { (Array($0.name.text.utf8), $0.value) }
        return table.count == model.count && table.isEmpty == model.isEmpty
            && Dictionary(found) { _, _ in -1 } == model && table.values.sorted() == model.values.sorted()
    }

    /// Few names, so that each comes and goes often; many, so that the table grows.
    @Test(arguments: [3, 20, 1_000]) func isADictionary(names: Int) {
        var random = SplitMix64(seed: UInt64(names))
        var table = NameTable<Int>()
        var model: [[UInt8]: Int] = [:]
        for step in 0..<20_000 {
            let text = "circuit \(random.number(in: 0...names - 1))"
            let (name, bytes) = (CircuitName(text), Array(text.utf8))
            // In turns more come than go, and more go than come.
            let share = step / 2_000 % 2 == 0 ? 60 : 30
            switch random.number(in: 0...99) {
            case 0..<share:
                table[name] = step
                model[bytes] = step
            case 60..<75:
                table[name] = nil
                model[bytes] = nil
            case 75..<95: #expect(table.remove(name) == model.removeValue(forKey: bytes))
            default: #expect(table[name] == model[bytes])
            }
            if step % 100 == 0, !Self.isEqual(table, model) {
                Issue.record("step \(step)")
                return
            }
        }
        #expect(Self.isEqual(table.mapValues { $0 * 2 }, model.mapValues { $0 * 2 }))
        for bytes in model.keys { table[CircuitName(String(decoding: bytes, as: UTF8.self))] = nil }
        #expect(table.isEmpty && table.all.isEmpty)
        table[CircuitName("a")] = 1
        table.removeAll()
        #expect(Self.isEqual(table, [:]))
    }

    /// Names in the order of another table's places are set as fast as names in any order.
    @Test func aCopyIsNoCrowd() {
        func work(_ body: () -> Void) -> Int64 {
            let before = ts_now(CLOCK_THREAD_CPUTIME_ID)
            body()
            return ts_now(CLOCK_THREAD_CPUTIME_ID) - before
        }
        func fill(_ names: [CircuitName]) -> NameTable<Int> {
            var table = NameTable<Int>()
            for name in names { table[name] = 1 }
            return table
        }
        // Three fifths of the places that there are then.
        let names = (0..<19_660).map { CircuitName("circuit \($0)") }
        let table = fill(names)
        let inAnyOrder = work { #expect(fill(names).count == names.count) }
        let inItsOrder = work { #expect(fill(table.all.map(\.name)).count == names.count) }
        print("\(names.count) names: \(inAnyOrder) ns in any order, \(inItsOrder) ns in that of a table")
        #expect(inItsOrder < inAnyOrder * 5)
    }

    /// To Swift both spellings are one text, to SQLite they are two names.
    @Test func spellingsAreNames() {
        var table = NameTable<Int>()
        table[CircuitName("é")] = 1
        table[CircuitName("e\u{301}")] = 2
        #expect("é" == "e\u{301}" && table.count == 2)
        #expect(table[CircuitName("é")] == 1 && table.remove(CircuitName("e\u{301}")) == 2)
    }

    @Test func aCopyStaysAsItIs() {
        var table = NameTable<Int>()
        table[CircuitName("a")] = 1
        let copy = table
        table[CircuitName("a")] = 2
        table[CircuitName("b")] = 3
        #expect(copy.count == 1 && copy[CircuitName("a")] == 1)
    }
}
