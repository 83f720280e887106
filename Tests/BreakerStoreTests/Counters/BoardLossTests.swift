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

/// Somebody takes the board's file away under a process that adds to it: nobody dies, and nothing is decided.
///
/// In processes of their own, for a fault that is not caught ends the process.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct BoardLossTests {
    /// A board with a circuit that has counted, and what the tests do to it.
    private final class Scene: Sendable {
        let place: BoardPlace
        let board: Board
        let counter: CircuitCells
        let lanes = Lanes()

        init(_ directory: String) throws {
            self.place = try BoardPlace(directory)
            self.board = try self.place.open()
            self.counter = try self.place.counter(self.board, 11)
            self.fail()
        }

        func fail() {
            let end = CountedFailure(isFailed: true, isSlow: true)
            self.counter.count(end, lanes: self.lanes) { 20_000_000 }
        }

        var sums: WindowCount? { self.counter.sums(at: 20_000_000).failed }

        func cut() { expect(unsafe truncate(self.place.path, 0) == 0) }

        /// Somebody installed a handler after the first board was mapped: the next one finds that.
        func putsOursOnTop() throws {
            expect(!BoardMapping.isHandlerInstalled)
            _ = try self.place.open()
            expect(BoardMapping.isHandlerInstalled)
        }

        /// The board is lost once it was touched, and a new one is made and used.
        func comesBack() throws {
            expect(self.board.isLost && self.sums == nil)
            let board = try self.place.open()
            let counter = try self.place.counter(board, 11)
            expect(counter.totals == CellTotals() && !board.isLost)
            counter.count(.failed, lanes: self.lanes) { 20_000_000 }
            expect(counter.sums(at: 20_000_000).failed?.bad == 1)
        }
    }

    @Test func aCutFileIsSurvived() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let scene = try Scene(directory)
            scene.cut()
            scene.fail()
            try scene.comesBack()
        }
    }

    /// Asked before anything is touched: then it is lost without a fault.
    @Test(arguments: ["cut", "removed", "replaced", "cut and grown"])
    func isNoticedByAsking(what: String) async throws {
        await #expect(processExitsWith: .success) {
            [directory = try Workplace.here.directory as String, what = what as String] in
            let scene = try Scene(directory)
            expect(scene.board.loseIfReplaced())
            switch what {
            case "cut": scene.cut()
            case "removed": unsafe unlink(scene.place.path)
            case "replaced":
                Files.copy(scene.place.path, to: scene.place.path + "-copy")
                unsafe rename(scene.place.path + "-copy", scene.place.path)
            default:
                scene.cut()
                expect(unsafe truncate(scene.place.path, 1 << 20) == 0)
            }
            expect(!scene.board.loseIfReplaced() && scene.board.isLost && scene.sums == nil)
            if what != "replaced" { try scene.comesBack() }
        }
    }

    /// Somebody has damaged the list of the segments: circuits that are new can't be found by all, so nobody stays.
    @Test func aBoardWhoseSegmentsWentIsLost() throws {
        try BoardPlace.withBoard { place, board in
            let file = unsafe open(place.path, O_RDWR)
            defer { close(file) }
            var none: UInt64 = 0
            #expect(unsafe pwrite(file, &none, 8, off_t(BoardHeader.Index.count * 8)) == 8)
            #expect(throws: BreakerStoreError.self) {
                for incarnation in 1...1_000 as ClosedRange<Int64> { _ = try place.counter(board, incarnation) }
            }
            #expect(board.isLost)
        }
    }

    @Test func aThreadThatBlocksTheSignalSurvivesToo() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let scene = try Scene(directory)
            var signals = sigset_t()
            unsafe sigfillset(&signals)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            scene.cut()
            let thread = StoreThread()
            expect(thread.start { scene.fail() })
            expect(thread.waitForEnd(until: Deadline(after: .hangLimit)))
            unsafe pthread_sigmask(SIG_BLOCK, nil, &signals)
            expect(scene.board.isLost)
        }
    }

    /// A thread that blocks all signals, as some programs' do, and never touched the board before.
    @Test func aThreadThatWasBornWithTheSignalBlockedSurvivesToo() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let scene = try Scene(directory)
            scene.cut()
            let thread = StoreThread()
            expect(
                thread.start {
                    var (signals, after) = (sigset_t(), sigset_t())
                    unsafe sigfillset(&signals)
                    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
                    scene.fail()
                    unsafe pthread_sigmask(SIG_BLOCK, nil, &after)
                    expect(unsafe sigismember(&after, SIGBUS) == 1)
                })
            expect(thread.waitForEnd(until: Deadline(after: .hangLimit)))
            expect(scene.board.isLost)
        }
    }

    // MARK: - The handler

    /// A fault elsewhere kills as ever, and so does a signal that somebody sends.
    @Test(arguments: ["fault", "sent"]) func othersFaultsStillKill(what: String) async throws {
        await #expect(processExitsWith: .signal(SIGBUS)) {
            [directory = try Workplace.here.directory as String, what = what as String] in
            let scene = try Scene(directory)
            scene.fail()
            if what == "fault" { Fault.provoke(directory) } else { raise(SIGBUS) }
            exit(0)
        }
    }

    @Test func whatWasIgnoredStaysIgnored() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            signal(SIGBUS, SIG_IGN)
            _ = try Scene(directory)
            raise(SIGBUS)
        }
    }

    /// A handler of the program that was there before, or comes later, gets the faults that are not the board's.
    @Test(arguments: [true, false]) func aHandlerOfTheProgramIsCalled(isBefore: Bool) async throws {
        await #expect(processExitsWith: .success) {
            [directory = try Workplace.here.directory as String, isBefore = isBefore as Bool] in
            if isBefore { bus_install(Int32(BUS_MEND.rawValue)) }
            let scene = try Scene(directory)
            if !isBefore {
                bus_install(Int32(BUS_MEND.rawValue))
                try scene.putsOursOnTop()
            }
            for call in 1...3 as ClosedRange<Int32> {
                expect(unsafe bus_write(Fault.memory(directory)) == 0 && bus_calls() == call)
            }
            scene.cut()
            scene.fail()
            expect(bus_calls() == 3)
            try scene.comesBack()
        }
    }

    /// The program's handler calls ours, which it replaced: that goes on to the one before, not round and round.
    @Test(arguments: [true, false]) func aHandlerThatHandsOnEndsAtTheFirst(hasFirst: Bool) async throws {
        let directory = try Workplace.here.directory
        if hasFirst {
            await #expect(processExitsWith: .success) { [directory = directory as String] in
                try Self.handOn(directory, hasFirst: true)
            }
        } else {
            await #expect(processExitsWith: .signal(SIGBUS)) { [directory = directory as String] in
                try Self.handOn(directory, hasFirst: false)
            }
        }
    }

    private static func handOn(_ directory: String, hasFirst: Bool) throws {
        if hasFirst { bus_install(Int32(BUS_MEND.rawValue)) }
        let scene = try Scene(directory)
        bus_install(Int32(BUS_HAND_ON.rawValue))
        try scene.putsOursOnTop()
        for call in 1...3 as ClosedRange<Int32> {
            expect(unsafe bus_write(Fault.memory(directory)) == 0 && bus_calls() == 2 * call)
        }
        scene.cut()
        scene.fail()
        try scene.comesBack()
    }

    /// A handler that jumps out leaves ours as it found it.
    @Test func aHandlerThatJumpsIsCalledEachTime() async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String] in
            let scene = try Scene(directory)
            bus_install(Int32(BUS_JUMP.rawValue))
            try scene.putsOursOnTop()
            for call in 1...5 as ClosedRange<Int32> {
                expect(unsafe bus_write(Fault.memory(directory)) == 1 && bus_calls() == call)
            }
            scene.cut()
            scene.fail()
            try scene.comesBack()
        }
    }
}

/// `#expect` does nothing in a child of `fork`, and is slow to say what went wrong when the process is killed.
private func expect(_ isSo: Bool, line: Int = #line) {
    if isSo { return }
    Forked.say("line \(line) of BoardLossTests does not hold")
    exit(3)
}

/// Memory beyond a file's end.
private enum Fault {
    static func memory(_ directory: String) -> UnsafeMutablePointer<CChar> {
        let descriptor = unsafe open(directory + "/fault", O_RDWR | O_CREAT, 0o600)
        let memory = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        close(descriptor)
        return unsafe memory.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self)
    }

    static func provoke(_ directory: String) { unsafe self.memory(directory)[0] = 1 }
}
