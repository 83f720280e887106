#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
// Beside files without `stat`, the compiler takes this module for the one that defines the fields of `stat`.
import SwiftOverlayShims
#endif

/// Creates boards.
extension Board {
    /// Opens a store's board if it is this owner's; otherwise creates one with the mode and the owner of the database.
    static func openOrCreate(of file: StoreFile, _ owner: BoardHeader.Owner) throws(BreakerStoreError) -> Board {
        var info = stat()
        guard unsafe stat(file.path, &info) == 0 else {
            throw BreakerStoreError(systemError: errno, doing: "look at", path: file.path)
        }
        Hook.reached("board.begin")
        return try Self.openOrCreate(
            at: file.board, of: owner, mode: info.st_mode & 0o777, user: info.st_uid, group: info.st_gid)
    }

    /// Opens the board at the path if it is this owner's; otherwise replaces whatever is there by a new board.
    ///
    /// If only this process can't use the board (descriptors, memory, permission), throws and leaves the board to the
    /// others. The caller holds the setup lock, so that one process at a time does this. The new board has the mode and
    /// the owner of the database.
    static func openOrCreate(
        at path: String, of owner: BoardHeader.Owner, mode: mode_t, user: uid_t, group: gid_t
    ) throws(BreakerStoreError) -> Board {
        if let board = try Self.open(at: path, of: owner) { return board }
        let old = ReplacedBoard(at: path)
        try Self.create(at: path, of: owner, mode: mode, user: user, group: group)
        old?.markMoved()
        guard let board = try Self.open(at: path, of: owner) else {
            throw BreakerStoreError(
                code: .unavailable, message: "cannot use '\(path)'", advice: "try again", path: path)
        }
        return board
    }

    /// Puts a new board at the path, in one step; a process that has the old board mapped notices the loss.
    ///
    /// Called under the setup lock. Nothing is synced: a board is of no use after the boot, and a power cut ends the
    /// boot.
    static func create(
        at path: String, of owner: BoardHeader.Owner, mode: mode_t, user: uid_t, group: gid_t
    ) throws(BreakerStoreError) {
        let new = path + ".new"
        // Left by a process that was killed here.
        unsafe unlink(new)
        guard let file = OpenFile(new, O_RDWR | O_CREAT | O_EXCL, mode) else {
            throw BreakerStoreError(systemError: errno, doing: "create", path: new)
        }
        do throws(BreakerStoreError) {
            file.change(mode: mode, owner: (user, group))
            let header = BoardHeader(owner: owner, number: .random(in: 1 ... .max), kinds: Self.kinds)
            try Self.fill(file.descriptor, header, new)
            Hook.reached("board.filled")
            guard unsafe rename(new, path) == 0 else {
                throw BreakerStoreError(systemError: errno, doing: "replace", path: path)
            }
        } catch {
            unsafe unlink(new)
            throw error
        }
    }

    /// The kinds of cells for which a new board has a segment.
    private static let kinds: [BoardKind] = [.totals, .ring, .degradedWorker, .seats]

    private static func fill(
        _ descriptor: Int32, _ header: BoardHeader, _ path: String
    ) throws(BreakerStoreError) {
        try Self.allocate(descriptor, 0, BoardHeader.size, path)
        for segment in header.segments { try Self.allocate(descriptor, segment.offset, segment.size, path) }
        let words = header.encoded
        guard unsafe pwrite(descriptor, words, BoardHeader.size, 0) == BoardHeader.size else {
            throw BreakerStoreError(systemError: errno, doing: "write", path: path)
        }
    }
}
