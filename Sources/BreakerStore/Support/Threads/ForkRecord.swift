import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The facts about a process that a child of `fork` needs: how many forks came before, and its parent's descriptors of
/// lock files.
///
/// The process has one record, which is never freed.
@safe
enum ForkRecord {
    // Safe: the pointer never changes, and the memory behind it is used by atomic operations alone.
    nonisolated(unsafe) static let record: UnsafeMutablePointer<bs_process> = {
        guard let record = unsafe bs_process_new() else { fatalError("no memory for 4 KiB") }
        return unsafe record
    }()

    /// Registers the handler that runs in a child, once.
    static let install: Void = {
        _ = unsafe record
        // The Swift runtime instantiates a generic type at its first use, under a lock. If another thread did so during
        // the fork, the child would wait for that lock forever.
        _ = TypeNames.name(of: Void.self)
        pthread_atfork(nil, nil) { unsafe bs_forked(ForkRecord.record) }
    }()

    /// How many forks lie between the program's start and this process: a value that was read with another number is of
    /// another process.
    ///
    /// Forks count once the handler is installed.
    static var forks: UInt64 { unsafe bs_forks(self.record) }

    /// Whether this process is a fork of the process in which `forks` had this value.
    static func isForked(since forks: UInt64) -> Bool { forks != self.forks }

    /// When this process was forked, in seconds since 1970.
    static var forkedAt: Int64 { unsafe bs_forked_at(self.record) }

    /// Records a lock file's descriptor; returns whether there was room for it.
    ///
    /// A child must close its copy, so that the lock ends with this process.
    static func add(descriptor: Int32) -> Bool {
        _ = self.install
        return unsafe bs_record_descriptor(self.record, descriptor) != 0
    }

    /// Removes the descriptor; returns whether it was recorded.
    ///
    /// In a child of `fork` none is: the child has closed them.
    static func drop(descriptor: Int32) -> Bool { unsafe bs_drop_descriptor(self.record, descriptor) != 0 }
}
