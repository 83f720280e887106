import CBreakerStore

/// The header of SQLite's wal-index in shared memory.
///
/// It must not be used once its connection is closed.
@safe
struct WalIndex {
    let page: UnsafePointer<UInt64>

    init(page: UnsafePointer<UInt64>) { unsafe self.page = page }

    /// The header now; anything read from the file afterwards is at least as new.
    func tag() -> Tag { unsafe Tag(raw: bs_read_tag(self.page)) }

    /// How many frames of the log no checkpoint has copied into the database yet.
    var pendingFrames: Int {
        let frames = unsafe bs_frames(self.page)
        let copied = unsafe bs_backfilled_frames(self.page)
        return frames > copied ? Int(clamping: frames - copied) : 0
    }

    /// How many frames the log has.
    var frames: Int { Int(clamping: unsafe bs_frames(self.page)) }
}

/// A second mapping of the header, readable without a lock, and even after the connection is closed.
///
/// Sendable: the address never changes, and the memory behind it is read by atomic operations alone.
@safe
final class HeaderMapping: @unchecked Sendable {
    let page: UnsafePointer<UInt64>

    /// Maps the header again; nil if the system can't, and then each decision is read from the file.
    init?(of index: WalIndex) {
        guard let page = unsafe bs_map_again(index.page) else { return nil }
        unsafe self.page = page
    }

    /// Replaces the mapped page by zeros: a thread that still reads here sees zeros, and no longer the file.
    ///
    /// Called before the connection is closed: the next process to open the file may truncate it, and reading memory
    /// beyond a file's end kills the process.
    func retire() { unsafe bs_blank(self.page) }

    deinit { unsafe bs_unmap(self.page) }
}

/// A copy of the wal-index's header: each commit of any process changes the original.
struct Tag: Equatable {
    var raw: bs_tag

    static func == (left: Tag, right: Tag) -> Bool {
        var left = left.raw
        var right = right.raw
        return unsafe memcmp(&left, &right, MemoryLayout<bs_tag>.size) == 0
    }

    /// Whether an unchanged header proves that the file is unchanged.
    var isReliable: Bool {
        var raw = self.raw
        return unsafe bs_tag_counts(&raw) != 0
    }
}
