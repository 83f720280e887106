import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A part of a board in memory; a thread that touches it survives if the file is cut meanwhile.
///
/// Sendable: the address and the place never change, and only atomic operations touch the memory there.
@safe
final class BoardMapping: @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let place: Int32
    /// Kept as long as the handler of SIGBUS may write to it.
    private let loss: BoardLoss

    /// Whether SIGBUS has the library's handler now.
    static var isHandlerInstalled: Bool { bs_is_guard_installed() != 0 }

    /// Nil if the system can't map the file, or if the library can't guard the mapping.
    init?(_ descriptor: Int32, offset: Int, size: Int, loss: BoardLoss) {
        guard
            let base = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(offset)),
            unsafe base != MAP_FAILED
        else { return nil }
        unsafe self.base = base
        self.size = size
        self.loss = loss
        self.place = unsafe bs_guard_mapping(base, size, loss.flag)
        if self.place < 0 { return nil }
    }

    deinit {
        if self.place >= 0 { bs_unguard_mapping(self.place) }
        unsafe munmap(self.base, self.size)
    }

    func words(from place: Int) -> SharedWords {
        precondition(place >= 0 && place < self.size / 8)
        return unsafe SharedWords(self.base.assumingMemoryBound(to: UInt64.self) + place)
    }
}
