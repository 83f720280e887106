#if PostgreSQL
import Testing

@testable import BreakerFleet

struct ByNameTests {
    @Test func itHoldsWhatADictionaryHolds() {
        var values = ByName<Int>()
        var dictionary: [String: Int] = [:]
        var generator = Numbers(seed: 7)
        for value in 0..<2_000 {
            let name = "circuit \(Int.random(in: 0..<40, using: &generator))"
            let change = Bool.random(using: &generator) ? value : nil
            values[name] = change
            dictionary[name] = change
            #expect(values[name] == change)
            #expect(Dictionary(values.map { ($0, $1) }) { first, _ in first } == dictionary)
            #expect(values.keys.count == dictionary.count && values.values.count == dictionary.count)
        }
    }

    @Test func ofSeveralWithTheSameNameTheFirstStays() {
        struct Named { var name: String, number: Int }
        let values = ByName(
            [Named(name: "a", number: 1), Named(name: "b", number: 2), Named(name: "a", number: 3)], key: \.name)
        #expect(values["a"]?.number == 1)
        #expect(values["b"]?.number == 2)
        #expect(values["c"] == nil)
        #expect(values.keys == ["a", "b"])
    }

    /// Two spellings of one letter, which `String` takes for one.
    @Test func namesOfOtherBytesAreOthers() {
        let (one, other) = ("caf\u{e9}", "cafe\u{301}")
        #expect(one == other)
        var values: ByName<Int> = [one: 1]
        values[other] = 2
        #expect(values[one] == 1 && values[other] == 2 && values.keys.count == 2)
        values[one] = nil
        #expect(values[one] == nil && values[other] == 2)
        let names: Names = [one]
        #expect(names.contains(one) && !names.contains(other))
        #expect(names.union([other]).subtracting([one]) == [other])
        #expect(names.union([other]).intersection([other]) == [other])
        #expect(!Register.Lease(host: one, left: 1).isOf(other))
    }
}
#endif
