import CBenchmarks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The transactions of a store, written in C, on a database of their own.
///
/// Sendable: one measurement at a time uses a floor, each after the other.
@safe
final class Floor: @unchecked Sendable {
    private let raw: OpaquePointer
    /// Another connection to the same database.
    let other: Other

    /// - Parameters:
    ///   - model: a store's file, whose schema the database gets.
    ///   - circuits: how many rows the table of circuits gets.
    ///   - failures: how many failures the first circuit gets.
    init(_ path: String, model: String, circuits: Int = 1, failures: Int = 0) throws {
        guard let raw = unsafe bb_floor_open(path, model, Int32(circuits)),
            unsafe bb_floor_fill(raw, Int32(failures)) == 0
        else { throw BenchmarkError("the floor's database can't be made") }
        unsafe self.raw = raw
        self.other = try Other(path)
    }

    /// Puts so many failures of three years ago into a store's file, where circuit 1 notes them.
    static func fill(_ path: String, with failures: Int) throws {
        guard let raw = unsafe bb_floor_open(path, nil, 1) else { throw BenchmarkError("\(path) can't be opened") }
        defer { unsafe bb_floor_close(raw) }
        guard unsafe bb_floor_fill(raw, Int32(failures)) == 0, unsafe bb_floor_note(raw, Int32(failures)) == 0 else {
            throw BenchmarkError("the failures can't be written")
        }
    }

    deinit { unsafe bb_floor_close(self.raw) }

    func checkpoint() { unsafe bb_floor_checkpoint(self.raw) }

    /// In nanoseconds for each failure.
    func fail(_ count: Int) throws -> Double {
        try Self.require(unsafe bb_floor_fail(self.raw, Int32(count))) / Double(count)
    }

    /// In nanoseconds.
    func failBatch(_ count: Int) throws -> Double {
        try Self.require(unsafe bb_floor_fail_batch(self.raw, Int32(count)))
    }

    func look() throws { _ = try Self.require(unsafe bb_floor_look(self.raw)) }

    private static func require(_ time: Int64) throws -> Double {
        guard time >= 0 else { throw BenchmarkError("the floor's transaction failed") }
        return Double(time)
    }
}

/// Another connection to a file, as another process has one.
///
/// Sendable as a floor is.
@safe
final class Other: @unchecked Sendable {
    private let raw: OpaquePointer
    private let path: String

    init(_ path: String) throws {
        guard let raw = unsafe bb_other_open(path) else { throw BenchmarkError("\(path) can't be opened") }
        unsafe self.raw = raw
        self.path = path
    }

    deinit { unsafe bb_other_close(self.raw) }

    /// Begins the log anew: SQLite finds a page the slower, the more often the log has it.
    static func beginLog(of path: String) throws {
        guard unsafe bb_begin_log(path) == 0 else { throw BenchmarkError("the log can't be begun anew") }
    }

    func beginLog() throws { try Self.beginLog(of: self.path) }

    /// The nanoseconds that `body` takes after a commit of this connection; the mean of `count`.
    ///
    /// - Parameter pause: microseconds between the commit and `body`.
    func afterEachCommit(_ count: Int, _ pause: UInt32 = 0, _ body: () async throws -> Void) async throws -> Double {
        try self.beginLog()
        var sum = 0.0
        for _ in 0..<count {
            guard unsafe bb_other_commit(self.raw) == 0 else { throw BenchmarkError("the other can't commit") }
            usleep(pause)
            let watch = Stopwatch()
            try await body()
            sum += watch.nanoseconds
        }
        return sum / Double(count)
    }
}
