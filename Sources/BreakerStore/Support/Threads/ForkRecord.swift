import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The facts about its parent's stores that a child of `fork` needs.
///
/// The process has one record, which is never freed.
@safe
enum ForkRecord {
    // The pointer never changes, and all that lies behind it is touched by atomic operations alone.
    nonisolated(unsafe) static let record: UnsafeMutablePointer<bs_process> = {
        guard let record = unsafe bs_process_new() else { fatalError("no memory for 4 KiB") }
        return unsafe record
    }()

    /// Registers the child's handler, once.
    static let install: Void = {
        _ = unsafe record
        // The runtime makes a type under a lock, at its first use. A child would wait for ever for one that another
        // thread was making at the fork.
        _ = TypeNames.name(of: Void.self)
        pthread_atfork(nil, nil) { unsafe bs_forked(ForkRecord.record) }
    }()

    /// How many forks lie between the program's start and this process: another number, another process.
    ///
    /// Forks count once the handler is installed.
    static var forks: UInt64 { unsafe bs_forks(self.record) }

    /// When this process was forked, in seconds since 1970.
    static var forkedAt: Int64 { unsafe bs_forked_at(self.record) }

    /// Notes a lock file's descriptor, which a child must close so that the lock dies with this process alone.
    ///
    /// Returns whether there was a place for it.
    static func note(descriptor: Int32) -> Bool {
        _ = self.install
        return unsafe bs_note_descriptor(self.record, descriptor) != 0
    }

    /// Returns whether it was noted; a child of `fork` has closed it already.
    static func drop(descriptor: Int32) -> Bool { unsafe bs_drop_descriptor(self.record, descriptor) != 0 }
}
