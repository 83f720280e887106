import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Keeps the facts about its parent's stores that a child of `fork` needs.
///
/// The process has one record, which is never freed.
@safe
enum ForkRecord {
    // Safe: the pointer never changes, and the memory behind it is used by atomic operations alone.
    nonisolated(unsafe) static let record: UnsafeMutablePointer<bs_process> = {
        guard let record = unsafe bs_process_new() else { fatalError("no memory for 4 KiB") }
        return unsafe record
    }()

    /// Registers the child's handler, once.
    static let install: Void = {
        _ = unsafe record
        // The runtime makes a type at its first use, under a lock. If another thread was making this type at the fork,
        // the child would wait for that lock forever.
        _ = TypeNames.name(of: Void.self)
        pthread_atfork(nil, nil) { unsafe bs_forked(ForkRecord.record) }
    }()

    /// How many forks lie between the program's start and this process: another number means another process.
    ///
    /// Forks count once the handler is installed.
    static var forks: UInt64 { unsafe bs_forks(self.record) }

    /// When this process was forked, in seconds since 1970.
    static var forkedAt: Int64 { unsafe bs_forked_at(self.record) }

    /// Records a lock file's descriptor; returns whether there was room for it.
    ///
    /// A child must close its copy, so that the lock ends with this process.
    static func note(descriptor: Int32) -> Bool {
        _ = self.install
        return unsafe bs_note_descriptor(self.record, descriptor) != 0
    }

    /// Removes the descriptor; returns whether it was recorded: a child of `fork` has closed it, and has none recorded.
    static func drop(descriptor: Int32) -> Bool { unsafe bs_drop_descriptor(self.record, descriptor) != 0 }
}
