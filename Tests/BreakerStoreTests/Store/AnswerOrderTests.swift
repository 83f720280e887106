import BreakerTestSupport
import CFaults
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What happens in the midst of a look at a cached answer, in the order in which a scheduler would have to do it.
///
/// The header is memory of the test's own, so that the test decides what a writer has written of it.
@Suite(.timeLimit(.minutes(10))) struct AnswerOrderTests {
    /// A wal-index whose header counts, and a gate that is open to it.
    ///
    /// Sendable: only the test's own thread uses it.
    @safe
    private final class Header: @unchecked Sendable {
        static let size = 32_768
        let words: UnsafeMutablePointer<UInt64>
        let mapping: HeaderMapping
        let gate = Gate()
        let cache = DecisionCache()

        init() throws {
            let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0)
            unsafe self.words = try #require(memory != MAP_FAILED ? memory : nil)
                .bindMemory(to: UInt64.self, capacity: Self.size / 8)
            let index = unsafe WalIndex(page: UnsafePointer(self.words))
            self.mapping = try #require(HeaderMapping(of: index))
            // Version 3007000; one change, initialised; then frames, checksums and salts.
            let copy: [UInt64] = [3_007_000, 1 | 1 << 32, 7, 8, 9, 10]
            for place in 0..<12 { unsafe self.words[place] = copy[place % 6] }
            self.gate.open(to: self.mapping, generation: 2)
        }

        deinit { unsafe munmap(self.words, Self.size) }

        /// Keeps an answer that was read under the present header.
        func publish(_ verdict: CallDecision.Kind, generation: UInt64 = 2) throws {
            let held = try #require(self.gate.tag())
            self.cache.publish(
                CallDecision(verdict, epoch: 1, until: 0), readUnder: held.tag, generation: generation)
        }

        var kind: CallDecision.Kind { self.cache.read(self.gate).kind }
    }

    /// A task that had read the file before it was replaced keeps its answer just when a call has compared the header
    /// with the former one: the call would get the answer of a file that is gone.
    @Test func anAnswerThatComesDuringAReadIsNotPublished() async {
        await #expect(processExitsWith: .success) {
            let header = try Header()
            try header.publish(.proceed)
            let late = unsafe Unmanaged.passRetained(header)
            unsafe touch_arm(
                header.mapping.page, Header.size,
                { context in
                    guard let context = unsafe context else { return }
                    let header = unsafe Unmanaged<Header>.fromOpaque(context).takeUnretainedValue()
                    try? header.publish(.heldOpen, generation: 1)
                },
                late.toOpaque()
            )
            #expect(header.kind == .unknown)
            // It was kept, as the next look finds, too.
            #expect(header.kind == .unknown)
            try header.publish(.proceed)
            #expect(header.kind == .proceed)
            unsafe late.release()
        }
    }

    /// SQLite writes the second copy of the header first: a writer may be stopped or killed between the two.
    @Test(arguments: 0..<12) func aHeaderThatIsWrittenByHalfEndsTheAnswer(word: Int) throws {
        let header = try Header()
        try header.publish(.proceed)
        #expect(header.kind == .proceed)
        unsafe header.words[word] ^= 1 << 40
        #expect(header.kind == .unknown)
        #expect(header.gate.tag() == nil, "nor is another kept")
        unsafe header.words[word] ^= 1 << 40
        #expect(header.kind == .proceed)
    }
}
