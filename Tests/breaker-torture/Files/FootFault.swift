/// What happens to the files of a store.
enum FootFault: String, CaseIterable {
    case databaseDeleted = "database deleted"
    case logDeleted = "log deleted"
    case indexDeleted = "index deleted"
    case lockDeleted = "lock file deleted"
    case boardDeleted = "board deleted"
    case allDeleted = "all files deleted"
    case renamedAway = "database renamed away"
    case replacedByStore = "replaced by another store"
    case replacedByGarbage = "replaced by garbage"
    case replacedByStranger = "replaced by a stranger's database"
    case directoryMoved = "directory moved away"
    case directoryDeleted = "directory deleted"
    case directoryExchanged = "directory replaced"
    case directoryLocked = "directory locked"
    case filesLocked = "files locked, index deleted"

    /// What became of the file that was there before.
    enum Verdict {
        /// It is there again, with all that was ever told.
        case kept
        /// Another one is there.
        case lost
        /// It is there again, but in between the workers met in another one.
        case elsewhere
        /// Nobody can say.
        case void
    }
}
