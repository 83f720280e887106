#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the tasks of several processes count together while they call one circuit.
package final class Crowd: Sendable {
    package enum Count: Int, CaseIterable {
        /// Processes that wait for the others before they begin.
        case ready
        /// Operations that ever began; the number that one gets is its own.
        case began
        /// Operations that run now, and the most that ever ran at a time.
        case running
        case most
        case refused
        /// Operations up to this number may end.
        case mayEnd
        /// Calls that ended in no way that a test expects.
        case strange
        /// Not 0: nobody begins another call; and the tasks that have left.
        case isOver
        case left
    }

    private static let firstProcess = 100
    private static let remembered = 100
    private let numbers: SharedNumbers

    /// Maps the file; creates it if there is none.
    package init(path: String) throws { self.numbers = try SharedNumbers(path: path) }

    package subscript(count: Count) -> Int {
        get { Int(self.numbers[count.rawValue]) }
        set { self.numbers[count.rawValue] = Int64(newValue) }
    }

    /// Counts one more; returns how many there are now.
    @discardableResult
    package func add(_ count: Count) -> Int { Int(self.numbers.add(1, at: count.rawValue)) }

    /// Starts anew, while nobody counts.
    package func clear() {
        for count in Count.allCases { self[count] = 0 }
        for number in 1...Self.remembered { self.numbers[Self.firstProcess + number] = 0 }
    }

    /// An operation begins; returns its number, from 1.
    package func enter() -> Int {
        let running = self.numbers.add(1, at: Count.running.rawValue)
        self.numbers.raise(Count.most.rawValue, to: running)
        let number = self.add(.began)
        if number <= Self.remembered { self.numbers[Self.firstProcess + number] = Int64(getpid()) }
        return number
    }

    /// The process of an operation by its number; nil if it has not said yet, or is not one of the first hundred.
    package func process(of number: Int) -> Int32? {
        guard (1...Self.remembered).contains(number) else { return nil }
        let process = self.numbers[Self.firstProcess + number]
        return process == 0 ? nil : Int32(process)
    }

    /// An operation ends.
    package func leave() { self.numbers.add(-1, at: Count.running.rawValue) }

    /// Waits until it is so; the other tasks and processes go on meanwhile.
    package func wait(until isSo: () -> Bool) async {
        while !isSo(), !Task.isCancelled {
            // The others need the processors.
            try? await Task.sleep(for: .microseconds(200))
        }
    }
}
