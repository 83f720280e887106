#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sets a store's broken file aside, so that a new one can take its place; the old bytes are kept.
///
/// The caller holds the guard, and has no connection open.
struct Quarantine {
    let file: StoreFile
    let wallTime: Date

    /// Renames the database, then its journal, its log and the wal-index; returns the database's new name, or nil if it
    /// was replaced.
    ///
    /// The database goes first: if this process is killed, the next opening moves the log aside as a stray, and SQLite
    /// deletes the journal of an empty database. A whole database that another program puts back meanwhile keeps its
    /// name and its log.
    ///
    /// - Parameter broken: the files that were found broken.
    func setAside(_ broken: FileIdentity) throws(BreakerStoreError) -> String? {
        Hook.reached("quarantine.begin")
        let database = try MovedFile(self.file.path, as: "corrupt", at: self.wallTime)
        guard broken.hasDatabase(at: database.kept) else {
            database.giveBack()
            return nil
        }
        Hook.reached("quarantine.database")
        var sides: [MovedFile] = []
        for side in [self.file.journal, self.file.log, self.file.index] where StoreFile.size(side) != nil {
            guard StoreFile.size(self.file.path) == nil else { break }
            sides.append(try MovedFile(side, as: "corrupt", at: self.wallTime))
            Hook.reached("quarantine.side")
        }
        if StoreFile.size(self.file.path) != nil { for side in sides { side.giveBack() } }
        // Without this, after a power cut the next store's files could lie beside the broken store's files.
        self.file.syncDirectory()
        Hook.reached("quarantine.done")
        return database.kept
    }
}
