import CBreakerStore

/// The header of SQLite's wal-index in shared memory.
///
/// It must not be used once its connection is closed.
@safe
struct WalIndex {
    let page: UnsafePointer<UInt64>

    init(page: UnsafePointer<UInt64>) { unsafe self.page = page }

    /// The header as it is now.
    ///
    /// What is read from the file afterwards is at least as new.
    func tag() -> Tag { unsafe Tag(raw: bs_read_tag(self.page)) }

    /// Frames of the log that no checkpoint has copied into the database yet.
    var pendingFrames: Int {
        let frames = unsafe bs_frames(self.page)
        let copied = unsafe bs_backfilled_frames(self.page)
        return frames > copied ? Int(clamping: frames - copied) : 0
    }

    /// Frames of the log.
    var frames: Int { Int(clamping: unsafe bs_frames(self.page)) }
}

/// The header, mapped once more for those who read it without a lock: it stays readable when the connection is closed.
///
/// Sendable: the address never changes, and what lies there is read by atomic operations alone.
@safe
final class HeaderMapping: @unchecked Sendable {
    let page: UnsafePointer<UInt64>

    /// Nil where the system can't map it again; then answers are read from the file each time.
    init?(of index: WalIndex) {
        guard let page = unsafe bs_map_again(index.page) else { return nil }
        unsafe self.page = page
    }

    /// Replaces the mapping by zeros and releases the file: a thread that still reads here sees zeros.
    ///
    /// Called before the connection is closed: the next one to open the file may truncate it, and to read memory beyond
    /// a file's end kills the process.
    func retire() { unsafe bs_blank(self.page) }

    deinit { unsafe bs_unmap(self.page) }
}

/// A copy of the header: any commit by anybody changes the original.
struct Tag: Equatable {
    var raw: bs_tag

    static func == (left: Tag, right: Tag) -> Bool {
        var left = left.raw
        var right = right.raw
        return unsafe memcmp(&left, &right, MemoryLayout<bs_tag>.size) == 0
    }

    /// Whether an unchanged header proves that the file is unchanged.
    var counts: Bool {
        var raw = self.raw
        return unsafe bs_tag_counts(&raw) != 0
    }
}
