import Testing

@testable import BreakerStore

/// What may be used, and what is done to a store.
extension OpeningPlanTests {
    private static func openDirectory(of owner: UInt32) -> FoundFile? {
        found(9) {
            $0.kind = .directory
            $0.permissions = 0o1777
            $0.owner = owner
        }
    }

    static let names = [
        Row("A link would lead somebody else to another log.", refuse(.unsafePath, "a symbolic link"), store) {
            $0.setupLock = nil
            $0.facts.log?.kind = .link
        },
        Row("A device is no file.", refuse(.unsafePath, "not a regular file"), store) {
            $0.facts.index?.kind = .other
        },
        Row("A directory is no lock file.", refuse(.unsafePath, "a directory"), store) {
            $0.facts.lock?.kind = .directory
        },
        Row("A directory is named in place of a file in it.", refuse(.unsafePath, "it is a directory"), store) {
            $0.facts.database?.kind = .directory
        },
        Row("Each name of the file would have a log of its own.", refuse(.unsafePath, "2 hard links"), store) {
            $0.facts.database?.links = 2
        },
        Row("Each name of a journal, too.", refuse(.unsafePath, "would have a store of its own"), store) {
            $0.facts.journal = found(4) { $0.links = 3 }
        },
        Row("A file that is being deleted has no link left.", .open(checksWholeFile: true), store) {
            $0.facts.database?.links = 0
        },
        Row(
            "In a directory of everybody's a stranger's file may be there to mislead.",
            refuse(.unsafePath, "belongs to user 2000"), store
        ) {
            $0.facts.log?.owner = 2_000
            $0.facts.directory = openDirectory(of: 0)
        },
        Row("The directory's owner could have made any file there.", .open(checksWholeFile: true), store) {
            $0.facts.log?.owner = 2_000
            $0.facts.directory = openDirectory(of: 2_000)
        },
        Row("Elsewhere whoever gave them the directory trusts them.", .open(checksWholeFile: true), store) {
            $0.facts.log?.owner = 2_000
            $0.facts.directory = openDirectory(of: 0)
            $0.facts.directory?.permissions = 0o775
        },
        Row("Root could do anything.", .open(checksWholeFile: true), store) {
            $0.facts.log?.owner = 0
            $0.facts.directory = openDirectory(of: 3_000)
        },
        Row("A look has failed.", refuse(.unavailable, "broken disk"), store) {
            $0.facts.failure = BreakerStoreError(code: .unavailable, message: "broken disk")
            $0.facts.content = nil
        },
        Row("A refused name comes before a look that failed.", refuse(.unsafePath, "a symbolic link"), store) {
            $0.facts.failure = BreakerStoreError(code: .unavailable, message: "broken disk")
            $0.facts.log?.kind = .link
        },
    ]

    static let denied = BreakerStoreError(code: .permissionDenied, message: "denied")

    static let accesses = [
        Row("The rights to an existing store are looked at, too.", .examine(.access), store) {
            $0.facts.access = nil
        },
        Row("This process may not write.", refuse(.permissionDenied, "denied"), database(ours)) {
            $0.facts.access = .refused(denied)
        },
        Row("Who makes a file sets its mode right after.", .acquireSetupLock(mayMakeLockFile: false), store) {
            $0.setupLock = nil
            $0.facts.access = .refused(denied)
        },
        Row("The lock file must be one of a store.", .examine(.lock), database(ours)) {
            $0.facts.access = .refused(denied)
            $0.facts.lock = found(5)
        },
        Row(
            "Nobody can have the setup lock by a lock file that is none.", refuse(.permissionDenied, "denied"),
            database(ours)
        ) {
            $0.facts.access = .refused(denied)
            $0.facts.lock = found(5)
            $0.facts.lockContent = .other
        },
        Row(
            "An empty lock file is being made, but nobody has the setup lock by it yet.",
            refuse(.permissionDenied, "denied"),
            database(ours)
        ) {
            $0.facts.access = .refused(denied)
            $0.facts.lock = found(5, size: 0)
        },
        Row("Under the setup lock the refusal counts.", refuse(.permissionDenied, "denied"), store) {
            $0.facts.access = .refused(denied)
        },
        Row("An unsafe name stays one.", refuse(.unsafePath, "a symbolic link"), store) {
            $0.setupLock = nil
            $0.facts.database?.kind = .link
        },
        Row(
            "The database may be set aside just now, and another be made.", .acquireSetupLock(mayMakeLockFile: false),
            nothing
        ) {
            $0.mayCreate = false
            $0.facts.lock = found(5)
            $0.facts.lockContent = .whole(hasWorkers: true)
        },
        Row(
            "A store looks like a stranger's file until it is complete.", .acquireSetupLock(mayMakeLockFile: false),
            torn
        ) {
            $0.setupLock = nil
            $0.facts.byLog = .noStore
        },
        Row("The names are refused without a look at the lock file.", refuse(.unavailable, "broken disk"), store) {
            $0.setupLock = nil
            $0.facts.failure = BreakerStoreError(code: .unavailable, message: "broken disk")
        },
    ]

    static let guards = [
        Row("A cleaner has put another lock file there: others lock that one.", .startOver, store) {
            $0.facts.lock = found(6)
        },
        Row("A cleaner has removed the lock file.", .startOver, store) { $0.facts.lock = nil },
        Row("Without the setup lock the lock file is not checked.", .acquireSetupLock(mayMakeLockFile: false), store) {
            $0.setupLock = nil
            $0.facts.lock = found(6)
        },
    ]

    /// Another database has come, and the log is the one that this process has left.
    static let replaced: OpeningPlan = {
        var plan = store
        plan.lastOpen = FileIdentity(
            database: .init(device: 1, inode: 7), log: .init(device: 1, inode: 2), index: nil)
        return plan
    }()

    static let leftLogs = [
        Row("SQLite would read the new database through the old one's log.", .moveStraysAside, replaced),
        Row("Files are moved under the setup lock alone.", .acquireSetupLock(mayMakeLockFile: false), replaced) {
            $0.setupLock = nil
        },
        Row(
            "The lock file is gone, too, and is made before anything is moved.",
            .acquireSetupLock(mayMakeLockFile: true),
            replaced
        ) {
            $0.setupLock = nil
            $0.facts.lock = nil
        },
        Row("The first bytes say whether the newcomer is a store.", .examine(.content), replaced) {
            $0.facts.content = nil
        },
        Row("A stranger's file keeps what lies beside it.", refuse(.notAStore, "another program"), replaced) {
            $0.facts.content = header(1, 0)
            $0.facts.byLog = .noStore
        },
        Row("A file that is no database keeps what lies beside it.", refuse(.notAStore, "not an SQLite"), replaced) {
            $0.facts.content = .other
            $0.facts.byLog = .noStore
        },
        Row("Beside an empty database the log is a stray in any case.", .moveStraysAside, replaced) {
            $0.facts.database?.size = 0
            $0.facts.content = nil
        },
        Row("The log is the new database's own.", .open(checksWholeFile: true), replaced) { $0.facts.log = found(8) },
        Row("The database is the same.", .open(checksWholeFile: true), replaced) { $0.facts.database = found(7) },
        Row("This process had no log.", .open(checksWholeFile: false), replaced) {
            $0.lastOpen = FileIdentity(database: .init(device: 1, inode: 7), log: nil, index: nil)
            $0.facts.lockContent = .whole(hasWorkers: true)
        },
        Row("This process had no database.", .open(checksWholeFile: true), replaced) {
            $0.lastOpen = FileIdentity(database: nil, log: .init(device: 1, inode: 2), index: nil)
        },
    ]

    static let suspect: OpeningPlan = {
        var plan = store
        plan.isSuspect = true
        plan.facts.isBroken = true
        return plan
    }()

    static let suspicions = [
        Row("SQLite has looked twice, and finds the file broken.", .quarantine, suspect),
        Row("Nobody has called the file broken.", .open(checksWholeFile: true), suspect) { $0.isSuspect = false },
        Row("SQLite looks through the file first.", .examine(.damage), suspect) { $0.facts.isBroken = nil },
        Row("The file is whole: another process has seen to it.", .open(checksWholeFile: true), suspect) {
            $0.facts.isBroken = false
        },
        Row("An opening that may not create moves nothing.", .open(checksWholeFile: false), suspect) {
            $0.mayCreate = false
        },
        Row("The file is gone by now.", .create, suspect) { $0.facts.database = nil },
        Row("An empty file is no broken one.", .moveStraysAside, suspect) { $0.facts.database?.size = 0 },
        Row("A lock file that was made just now is no sign of a store.", .open(checksWholeFile: false), suspect) {
            $0.setupLock?.isNew = true
        },
        Row("A suspected file is no reason to make a lock file.", .acquireSetupLock(mayMakeLockFile: false), suspect) {
            $0.setupLock = nil
        },
        Row("SQLite would take a file of one byte for an empty one.", .quarantine, suspect) {
            $0.facts.database?.size = 1
            $0.facts.content = nil
            $0.facts.isBroken = nil
        },
        Row("SQLite must roll back first.", .open(checksWholeFile: true), suspect) { $0.facts.journal = found(4) },
        Row("An empty journal is to roll back nothing.", .quarantine, suspect) { $0.facts.journal = found(4, size: 0) },
        Row("The first bytes may name another program.", .examine(.content), suspect) { $0.facts.content = nil },
        Row("Another program's file is left alone.", refuse(.notAStore, "another program"), suspect) {
            $0.facts.content = header(1, 0)
            $0.facts.byLog = .noStore
        },
        Row("SQLite writes to no file of a later format.", .quarantine, suspect) {
            $0.facts.content = header(Schema.applicationID, newest, format: 3)
            $0.facts.isBroken = nil
        },
        Row("A file without a header may be broken.", .quarantine, suspect) { $0.facts.content = .other },
        Row("A look that fails says nothing of the file.", refuse(.unavailable, "broken disk"), suspect) {
            $0.facts.isBroken = nil
            $0.facts.failure = BreakerStoreError(code: .unavailable, message: "broken disk")
        },
    ]

    static let openings = [
        Row("An index without its log tells of frames that no process will find.", .deleteIndex, store) {
            $0.facts.log = nil
        },
        Row(
            "The log is gone: the file may be torn in a way that no statement notices.", .open(checksWholeFile: true),
            store
        ) {
            $0.facts.log = nil
            $0.facts.index = nil
            $0.facts.lockContent = .whole(hasWorkers: true)
        },
        Row("An empty log is as good as none.", .open(checksWholeFile: true), store) {
            $0.facts.log?.size = 0
            $0.facts.lockContent = .whole(hasWorkers: true)
        },
        Row("Nobody uses the store, and nobody waits for the look.", .open(checksWholeFile: true), store),
        Row("Whether somebody uses it, the lock file tells.", .examine(.lock), store) {
            $0.facts.lockContent = nil
            $0.facts.index = nil
        },
        Row("Other processes would wait; the one that meets damage sees to it.", .open(checksWholeFile: false), store) {
            $0.facts.lockContent = .whole(hasWorkers: true)
        },
        Row("A lock file that was made just now need not have been a store's.", .open(checksWholeFile: false), store) {
            $0.setupLock?.isNew = true
        },
        Row("This process has had the store open: it was one.", .open(checksWholeFile: true), store) {
            $0.isReopening = true
            $0.setupLock?.isNew = true
            $0.facts.log = nil
            $0.facts.index = nil
        },
        Row("A process that opens again has checked the file before.", .open(checksWholeFile: false), store) {
            $0.isReopening = true
        },
        Row("A file of 8 MiB is looked through.", .open(checksWholeFile: true), store) {
            $0.facts.database?.size = (8 << 20) - 4_096
        },
        Row("A larger one would keep others waiting.", .open(checksWholeFile: false), store) {
            $0.facts.database?.size = (8 << 20) - 4_095
        },
        Row("A larger log would, too.", .open(checksWholeFile: false), store) {
            $0.facts.log?.size = (8 << 20) - 4_095
        },
        Row("An opening that may not create leaves a broken file to services.", .open(checksWholeFile: false), store) {
            $0.mayCreate = false
        },
        Row("In an empty file there is nothing to look through.", .open(checksWholeFile: false), guarded(nothing)) {
            $0.facts.database = found(1, size: 0)
        },
    ]
}
