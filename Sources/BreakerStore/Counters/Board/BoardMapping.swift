import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A mapped part of a board; a thread that touches it survives if the file is truncated.
///
/// Sendable: the address and the guard never change, and only atomic operations touch the memory there.
@safe
final class BoardMapping: @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    private let size: Int
    /// The number of the guard: see `bs_guard_mapping`.
    private let guardNumber: Int32
    /// Kept as long as the handler of SIGBUS may write to it.
    private let loss: BoardLoss

    /// Whether the library's handler is installed for SIGBUS now.
    static var isHandlerInstalled: Bool { bs_is_guard_installed() != 0 }

    /// Nil if the system can't map the file, or the SIGBUS handler can't guard the mapping.
    init?(_ descriptor: Int32, offset: Int, size: Int, loss: BoardLoss) {
        guard
            let base = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(offset)),
            unsafe base != MAP_FAILED
        else { return nil }
        unsafe self.base = base
        self.size = size
        self.loss = loss
        self.guardNumber = unsafe bs_guard_mapping(base, size, loss.flag)
        if self.guardNumber < 0 { return nil }
    }

    deinit {
        if self.guardNumber >= 0 { bs_unguard_mapping(self.guardNumber) }
        unsafe munmap(self.base, self.size)
    }

    func words(from index: Int) -> SharedWords {
        precondition(index >= 0 && index < self.size / 8)
        return unsafe SharedWords(self.base.assumingMemoryBound(to: UInt64.self) + index)
    }
}
