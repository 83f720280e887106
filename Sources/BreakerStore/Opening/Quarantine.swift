#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Renames a store's broken files, so that a new store can take their place; the old bytes stay on the disk.
///
/// The caller holds the setup lock, and has no connection open.
struct Quarantine {
    let file: StoreFile
    let wallTime: Date

    /// Renames the database, then its journal, its log and the wal-index; returns the database's new name, or nil if it
    /// was replaced.
    ///
    /// The database goes first: if this process is killed, the next opening moves the log aside as a stray, and SQLite
    /// deletes the journal of an empty database. A whole database that another program puts back during the renaming
    /// keeps its name and its log.
    ///
    /// - Parameter broken: the files that were found broken.
    func quarantine(_ broken: FileIdentity) throws(BreakerStoreError) -> String? {
        Hook.reached("quarantine.begin")
        let database = try MovedFile(self.file.path, as: "corrupt", at: self.wallTime)
        guard broken.hasDatabase(at: database.newName) else {
            database.putBack()
            return nil
        }
        Hook.reached("quarantine.database")
        var sides: [MovedFile] = []
        for side in [self.file.journal, self.file.log, self.file.index] where StoreFile.size(side) != nil {
            guard StoreFile.size(self.file.path) == nil else { break }
            sides.append(try MovedFile(side, as: "corrupt", at: self.wallTime))
            Hook.reached("quarantine.side")
        }
        if StoreFile.size(self.file.path) != nil { for side in sides { side.putBack() } }
        // Without the sync, a power cut could leave the next store's files beside the broken store's files.
        self.file.syncDirectory()
        Hook.reached("quarantine.done")
        return database.newName
    }
}
