import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One link has the seat of a file, whoever asks and however the one before has ended.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LinkSeatTests {
    private let path: String
    private let store: CircuitStore

    init() throws {
        let place = try Workplace.here
        self.path = place.store
        self.store = try Self.open(self.path, place)
    }

    private static func open(_ path: String, _ place: Workplace) throws -> CircuitStore {
        var configuration = Stores.configuration()
        configuration.clock = place.clock
        return try CircuitStore(path: path, configuration: configuration)
    }

    @Test func twoOfOneProcessExcludeEachOther() {
        let (first, second) = (LinkSeat(of: self.store), LinkSeat(of: self.store))
        for _ in 0..<2 { #expect(first.take()) }
        #expect(!second.take())
        #expect(first.take())
        second.leave()
        #expect(first.take())
        first.leave()
        #expect(second.take())
        #expect(!first.take())
    }

    @Test func whoIsGoneHasItNoLonger() {
        var first: LinkSeat? = LinkSeat(of: self.store)
        #expect(first?.take() == true)
        let second = LinkSeat(of: self.store)
        #expect(!second.take())
        first = nil
        #expect(second.take())
    }

    /// The seats of two files have nothing to do with each other, nor have a worker's byte and a seat.
    @Test func eachFileHasItsOwn() throws {
        let other = try Self.open(self.path + "2", Workplace.here)
        let (one, two) = (LinkSeat(of: self.store), LinkSeat(of: other))
        #expect(one.take())
        #expect(two.take())
        #expect(try self.store.workers().count == 1)
        other.close()
        let third = try Self.open(self.path + "2", Workplace.here)
        defer { third.close() }
        #expect(try third.workers().count == 1)
        #expect(!LinkSeat(of: third).take())
    }

    @Test func aProcessThatIsKilledLosesIt() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        #expect(try await workers[0].ask("seat take")["taken"] == "true")
        #expect(try await workers[1].ask("seat take")["taken"] == "false")
        let own = LinkSeat(of: self.store)
        #expect(!own.take())
        await workers[0].die()
        #expect(try await workers[1].ask("seat take")["taken"] == "true")
        #expect(!own.take())
        try await workers[1].ask("seat leave")
        #expect(own.take())
        #expect(try await workers[1].ask("seat take")["taken"] == "false")
    }

    @Test func aHaltedProcessKeepsIt() async throws {
        let worker = try await Workplace.here.openWorker()
        #expect(try await worker.ask("seat take")["taken"] == "true")
        worker.stop()
        #expect(!LinkSeat(of: self.store).take())
        worker.goOn()
    }

    @Test func aRemovedLockFileIsNoSeat() {
        let (first, second) = (LinkSeat(of: self.store), LinkSeat(of: self.store))
        #expect(first.take())
        let lock = self.path + "-lock"
        unsafe unlink(lock)
        #expect(!first.take())
        #expect(!second.take())
        #expect(Files.read(lock) == nil, "a seat makes no file")
        // No whole lock file: it is left as it is.
        for bytes in [[], Array(LockFile.magic.dropLast(3)), Array("somebody's notes, longer than a lock file".utf8)] {
            Files.write(bytes, to: lock)
            #expect(!first.take())
            #expect(Files.read(lock) == bytes)
        }
        Files.write(LockFile.magic, to: lock)
        #expect(second.take())
        #expect(!first.take())
    }

    @Test func whoHadTheReplacedFileMayLoseIt() throws {
        let (first, second) = (LinkSeat(of: self.store), LinkSeat(of: self.store))
        #expect(first.take())
        let lock = self.path + "-lock"
        Files.write(LockFile.magic, to: lock + ".copy")
        try #require(unsafe rename(lock + ".copy", lock) == 0)
        #expect(second.take(), "others go by the file that is there")
        #expect(!first.take())
        second.leave()
        #expect(first.take())
    }

    /// A child of `fork` has no seat, and keeps its parent's from nobody.
    @Test func aChildOfForkHasNone() async {
        await #expect(processExitsWith: .success) {
            let directory = try Files.makeDirectory()
            defer { Files.remove(directory) }
            let store = try CircuitStore(path: directory + "/a.db", configuration: Stores.configuration())
            let (seat, other) = (LinkSeat(of: store), LinkSeat(of: store))
            try #require(seat.take())
            let end = Forked.run { seat.take() || other.take() ? 1 : 0 }
            #expect(end == .exited(0))
            #expect(seat.take())
            let child = Forked.start {
                sleep(50)
                return 0
            }
            seat.leave()
            #expect(other.take())
            kill(child, SIGKILL)
            _ = Forked.wait(for: child)
        }
    }
}
