import CBreakerStore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Memory for lanes, 64 bytes each, all of them zero.
///
/// malloc(3) would spend 128 bytes on a lane that begins a cache line. Freed lanes are used again, and never returned
/// to the system.
final class LaneArena: Sendable {
    /// The bytes of a lane.
    static let size = UInt(bs_lane_size)
    private static let chunkSize = 256 << 10

    private struct State {
        /// The rest of the newest chunk.
        var rest: Range<UInt> = 0..<0
        /// The addresses of freed lanes, indexed by how many consecutive lanes were freed there.
        ///
        /// Not a dictionary: for the first dictionary of a type the runtime searches all loaded libraries for
        /// conformances, and a process with one circuit would wait for that.
        var free: [[UInt]] = []
    }

    /// A child of `fork` has its own arena: in the child, the lock of the parent's arena may stay locked forever.
    private static let own = PerProcess { LaneArena() }
    private let state = Mutex(State(), rank: .leaf)

    static var here: LaneArena { self.own.value }

    /// How many CPUs this machine may have.
    static var cpus: Int {
        #if canImport(Darwin)
        // No cheap call gives a thread the number of its CPU.
        1
        #else
        max(1, sysconf(Int32(_SC_NPROCESSORS_CONF)))
        #endif
    }

    static func words(at address: UInt) -> SharedWords {
        guard let base = unsafe UnsafeMutablePointer<UInt64>(bitPattern: address) else { fatalError("no lane is at 0") }
        return unsafe SharedWords(base)
    }

    /// Allocates consecutive lanes, all zero; returns the address of the first.
    func allocate(_ count: Int) -> UInt {
        let size = UInt(count) * Self.size
        let address = self.state.withLock { state -> UInt in
            if state.free.indices.contains(count), let address = state.free[count].popLast() { return address }
            if state.rest.count < Int(size) { state.rest = Self.makeChunk() }
            let address = state.rest.lowerBound
            state.rest = address + size..<state.rest.upperBound
            return address
        }
        // Freed memory still has its last circuit's counts, and the address of that circuit's other lanes.
        let words = Self.words(at: address)
        for index in 0..<Int(size) / 8 { words[index] = 0 }
        return address
    }

    func free(_ address: UInt, _ count: Int) {
        self.state.withLock { state in
            while state.free.count <= count { state.free.append([]) }
            state.free[count].append(address)
        }
    }

    private static func makeChunk() -> Range<UInt> {
        let flags = MAP_PRIVATE | MAP_ANON
        guard let memory = unsafe mmap(nil, Self.chunkSize, PROT_READ | PROT_WRITE, flags, -1, 0),
            unsafe memory != MAP_FAILED
        else { fatalError("no memory for 256 KiB") }
        #if !canImport(Darwin)
        // MADV_WIPEONFORK of madvise(2): a child of `fork` finds zeros there, so that it does not count its parent's
        // calls again.
        _ = unsafe madvise(memory, Self.chunkSize, Int32(bs_wipe_on_fork))
        #endif
        let start = UInt(bitPattern: memory)
        return start..<start + UInt(Self.chunkSize)
    }
}
