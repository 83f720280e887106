import BreakerTestSupport

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory's board and lock file, without a store.
struct BoardPlace: Sendable {
    let path: String
    let lock: LockFile

    init(_ directory: String) throws {
        self.path = directory + "/circuits.db-board"
        self.lock = try LockFile(path: directory + "/circuits.db-lock", creatingWith: 0o600, owner: nil)
    }

    /// Runs `body` with a board in a directory of its own.
    static func withBoard<Result>(_ body: (BoardPlace, Board) throws -> Result) throws -> Result {
        try Files.withDirectory { directory in
            let place = try BoardPlace(directory)
            return try body(place, try place.open())
        }
    }

    func open(incarnation: Int64 = 7, boot: String = "this boot") throws -> Board {
        try self.lock.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
            try Board.openOrCreate(
                at: self.path, of: .init(bootID: boot, incarnation: incarnation), mode: 0o600, user: geteuid(),
                group: getegid())
        }
    }

    /// The counters of a circuit, whose row has the same number.
    ///
    /// - Parameter incarnations: those of the circuits that are in the file.
    func counter(
        _ board: Board, _ incarnation: Int64, _ rules: CountingRules = Self.rules, among incarnations: Set<Int64>? = nil
    ) throws -> CircuitCells {
        let room = Board.RoomMaking(
            exclusively: { (body) throws(BreakerStoreError) in
                try self.lock.withSetupLock(until: Deadline(after: .hangLimit), body)
            }, mayGrow: { true }, incarnations: { incarnations }, growthFailed: {})
        return try CircuitCells(ofID: incarnation, incarnation: incarnation, rules, on: board, making: room)
    }

    /// Windows of 16 s: a tick is a second.
    static let rules = CountingRules(failureWindow: 16_000_000, slowWindow: 16_000_000, measuresDurations: true)
}
