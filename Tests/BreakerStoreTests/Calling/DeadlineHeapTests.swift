import Testing

@testable import BreakerStore

/// Elements by their times.
@Suite struct DeadlineHeapTests {
    private typealias Heap = DeadlineHeap<Int>
    private let start = ContinuousClock.now

    private func time(_ milliseconds: Int) -> ContinuousClock.Instant { self.start + .milliseconds(milliseconds) }

    /// All elements whose time has come, in their order.
    private func drain(_ heap: inout Heap, until milliseconds: Int = .max / 2) -> [Int] {
        var drained: [Int] = []
        while let element = heap.removeFirst(dueAt: self.time(milliseconds)) { drained.append(element) }
        return drained
    }

    @Test func aKeyNamesItsElementAlone() {
        var heap = Heap()
        let first = heap.add(1, at: self.time(1))
        #expect(heap.remove(first) == 1)
        // It has the first one's slot.
        let second = heap.add(2, at: self.time(1))
        #expect(heap.remove(first) == nil)
        #expect(heap.count == 1)
        #expect(heap.removeFirst(dueAt: self.time(1)) == 2)
        #expect(heap.remove(second) == nil)
    }

    /// Beside a list that is sorted anew each time.
    @Test(arguments: 0..<20 as Range<UInt64>) func isWhatASortedListIs(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var heap = Heap()
        var list: [(time: Int, element: Int, key: Heap.Key)] = []
        for element in 0..<1_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !list.isEmpty:
                let removed = list.remove(at: .random(in: list.indices, using: &random))
                #expect(heap.remove(removed.key) == removed.element)
                #expect(heap.remove(removed.key) == nil)
            case 1:
                let now = Int.random(in: 0..<30, using: &random)
                let due = list.filter { $0.time <= now }.sorted { ($0.time, $0.element) < ($1.time, $1.element) }
                list.removeAll { $0.time <= now }
                #expect(self.drain(&heap, until: now) == due.map(\.element))
            default:
                let time = Int.random(in: 0..<100, using: &random)
                list.append((time, element, heap.add(element, at: self.time(time))))
            }
            #expect(heap.count == list.count)
            #expect(heap.first == list.map(\.time).min().map(self.time))
        }
    }

    @Test func aHundredThousandComeInOrder() {
        var heap = Heap()
        let count = 100_000
        let times = (0..<count).shuffled()
        let keys = times.map { heap.add($0, at: self.time($0)) }
        for (time, key) in zip(times, keys) where !time.isMultiple(of: 2) {
            guard heap.remove(key) == time else {
                Issue.record("element \(time) is not there")
                return
            }
        }
        #expect(self.drain(&heap) == Array(stride(from: 0, to: count, by: 2)))
        #expect(heap.count == 0)
        // The memory of the burst was given back: none of the keys means anything.
        #expect(keys.allSatisfy { heap.remove($0) == nil })
        let key = heap.add(1, at: self.time(1))
        #expect(keys.allSatisfy { heap.remove($0) == nil })
        #expect(heap.remove(key) == 1)
    }
}
