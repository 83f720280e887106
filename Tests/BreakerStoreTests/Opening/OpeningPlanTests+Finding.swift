import Testing

@testable import BreakerStore

/// What the files are.
extension OpeningPlanTests {
    static let newFiles = [
        Row(
            "Before a lock file is made, this process must be known to have the right to it.", .examine(.access),
            nothing
        ) {
            $0.facts.access = nil
        },
        Row(
            "Two processes may begin at the same time: one of them makes the file.",
            .acquireSetupLock(mayMakeLockFile: true),
            nothing),
        Row("Nothing is there, and nobody else is at it.", .create, guarded(nothing)),
        Row("An opening that may not create says that there is nothing.", refuse(.notFound, "no store"), nothing) {
            $0.mayCreate = false
        },
        Row("An empty file is a new store.", .open(checksWholeFile: false), guarded(database(nil, size: 0))),
        Row("SQLite would take the log for the new database's.", .moveStraysAside, guarded(database(nil, size: 0))) {
            $0.facts.log = found(2)
        },
        Row("SQLite would take the index for the new database's.", .moveStraysAside, guarded(database(nil, size: 0))) {
            $0.facts.index = found(3)
        },
        Row(
            "An empty log is no harm, but an empty database has none yet.", .moveStraysAside,
            guarded(database(nil, size: 0))
        ) {
            $0.facts.log = found(2, size: 0)
        },
        Row("The first bytes tell what a file is.", .examine(.content), database(nil)),
        Row("A power cut may leave the size of a new file and none of its bytes.", .examine(.journal), database(.zeros))
        {
            $0.facts.journal = found(4)
        },
        Row(
            "The journal says that the file was empty before: SQLite empties it again.", .open(checksWholeFile: false),
            guarded(database(.zeros))
        ) {
            $0.facts.journal = found(4)
            $0.facts.startsFromNothing = true
            $0.setupLock?.isNew = true
        },
        Row(
            "A database without a table is as good as an empty file; SQLite says whether it has one.",
            .examine(.tables),
            database(header(0, 0))),
        Row(
            "A database without a table becomes a store.", .open(checksWholeFile: false),
            guarded(database(header(0, 0)))
        ) {
            $0.facts.isEmpty = true
            $0.setupLock?.isNew = true
        },
        Row(
            "An index without its log tells of frames that no process will find.", .deleteIndex,
            guarded(database(header(0, 0)))
        ) {
            $0.facts.isEmpty = true
            $0.facts.index = found(3)
        },
    ]

    static let strangers = [
        Row("Zeros alone are somebody's file.", refuse(.notAStore, "not an SQLite database"), database(.zeros)),
        Row("An empty journal says nothing of zeros.", refuse(.notAStore, "not an SQLite database"), database(.zeros)) {
            $0.facts.journal = found(4, size: 0)
        },
        Row(
            "The journal says that the zeros replaced something.", refuse(.notAStore, "not an SQLite database"),
            database(.zeros)
        ) {
            $0.facts.journal = found(4)
            $0.facts.startsFromNothing = false
        },
        Row(
            "Other bytes with a journal are somebody's.", refuse(.notAStore, "not an SQLite database"), database(.other)
        ) {
            $0.facts.journal = found(4)
        },
        Row("A database with tables is somebody's.", refuse(.notAStore, "another program"), database(header(0, 0))) {
            $0.facts.isEmpty = false
        },
        Row("Tables may be in the log.", refuse(.notAStore, "another program"), database(header(0, 0))) {
            $0.facts.log = found(2)
        },
        Row(
            "Tables may be in what a journal brings back.", refuse(.notAStore, "another program"),
            database(header(0, 0))
        ) {
            $0.facts.journal = found(4)
        },
        Row("A version is somebody's sign.", refuse(.notAStore, "another program"), database(header(0, 1))),
        Row("Another number is another program's.", refuse(.notAStore, "another program"), database(header(1, 0))),
    ]

    static let versions = [
        Row("Beside a worker the index knows the version, which is asked for later.", .examine(.lock), store) {
            $0.facts.lockContent = nil
        },
        Row(
            "The log of a busy store has a thousand frames: SQLite is asked for the version later.",
            .open(checksWholeFile: false), store
        ) {
            $0.facts.lockContent = .whole(hasWorkers: true)
            $0.facts.logVersions = nil
        },
        Row("A later version beside a worker may be a torn first page: the log is read.", .examine(.logVersions), store)
        {
            $0.facts.lockContent = .whole(hasWorkers: true)
            $0.facts.content = header(Schema.applicationID, later)
            $0.facts.logVersions = nil
        },
        Row("A process that opens again would take its own byte for another's.", .examine(.logVersions), store) {
            $0.isReopening = true
            $0.facts.lockContent = .whole(hasWorkers: true)
            $0.facts.logVersions = nil
        },
        Row("Nobody has the store open, who would have made the index.", .examine(.logVersions), store) {
            $0.facts.logVersions = nil
        },
        Row("Without an index the log is read, even beside workers.", .examine(.logVersions), store) {
            $0.facts.lockContent = .whole(hasWorkers: true)
            $0.facts.index = nil
            $0.facts.logVersions = nil
        },
        Row("A frame is of a later version: SQLite says which page counts.", .examine(.version), store) {
            $0.facts.logVersions = [newest, later]
        },
        Row("The later frame does not count.", .open(checksWholeFile: true), store) {
            $0.facts.logVersions = [later]
            $0.facts.version = newest
        },
        Row("The later frame counts.", refuse(.newerSchema, "this program knows up to"), store) {
            $0.facts.logVersions = [later]
            $0.facts.version = later
        },
        Row("The header alone is later, and the log may have it right.", .examine(.version), store) {
            $0.facts.content = header(Schema.applicationID, later)
        },
        Row("A file without a log is what its header says.", refuse(.newerSchema, "this program knows up to"), store) {
            $0.facts.content = header(Schema.applicationID, later)
            $0.facts.log = nil
        },
        Row("What a journal is to roll back can't be read as it is.", .open(checksWholeFile: true), store) {
            $0.facts.journal = found(4)
            $0.facts.logVersions = nil
        },
        Row("A later minor version only adds.", .open(checksWholeFile: true), store) {
            $0.facts.content = header(Schema.applicationID, newest + 1)
        },
        Row("An older version is migrated.", .open(checksWholeFile: true), store) {
            $0.facts.content = header(Schema.applicationID, 2_000)
        },
    ]

    /// A store of schema 2.0, and a process that may not migrate it.
    private static let kept: OpeningPlan = {
        var plan = with(store) { $0.content = header(Schema.applicationID, 2_000) }
        plan.mayMigrate = false
        return plan
    }()

    static let olderVersions = [
        Row("A process may have migrated the file, and the log have the new first page.", .examine(.version), kept),
        Row("The log has no newer first page.", refuse(.olderSchema, "schema 2.0"), kept) { $0.facts.version = 2_000 },
        Row("Another process has migrated the file.", .open(checksWholeFile: true), kept) { $0.facts.version = newest },
        Row("Without a log the header says it.", refuse(.olderSchema, "schema 2.0"), kept) { $0.facts.log = nil },
        Row("Nothing is deleted beside it.", refuse(.olderSchema, "schema 2.0"), kept) { $0.facts.log?.size = 0 },
        Row("What a journal is to roll back can't be read as it is.", refuse(.olderSchema, "schema 2.0"), kept) {
            $0.facts.journal = found(4)
        },
        Row("No lock file is made beside it.", refuse(.olderSchema, "schema 2.0"), kept) {
            $0.setupLock = nil
            $0.facts.lock = nil
            $0.facts.version = 2_000
        },
        Row("Who may not create may not migrate either.", refuse(.olderSchema, "schema 2.0"), kept) {
            $0.mayCreate = false
            $0.facts.version = 2_000
        },
        Row("The first page is torn, and the log has an older one.", refuse(.olderSchema, "schema 2.0"), kept) {
            $0.facts.content = .other
            $0.facts.byLog = .store(version: 2_000)
        },
        Row("An older minor version is older, too.", refuse(.olderSchema, "the file has schema"), kept) {
            $0.facts.content = header(Schema.applicationID, newest - 1)
            $0.facts.version = newest - 1
        },
        Row("A store of this schema is used.", .open(checksWholeFile: true), kept) { $0.facts.content = ours },
        Row("So is one of a later minor version.", .open(checksWholeFile: true), kept) {
            $0.facts.content = header(Schema.applicationID, newest + 1)
        },
        Row("A new file is created.", .create, guarded(nothing)) { $0.mayMigrate = false },
        Row("The look for the version fails.", refuse(.unavailable, "broken disk"), kept) {
            $0.facts.failure = BreakerStoreError(code: .unavailable, message: "broken disk")
        },
    ]

    static let torn = with(store) { $0.content = .other }

    static let tornFiles = [
        Row("A checkpoint that was cut short may have torn the first page.", .examine(.wholeByLog), torn),
        Row("So may a page of another program's header.", .examine(.wholeByLog), torn) {
            $0.facts.content = header(1, 0)
        },
        Row("A lock file says that there was a store.", .examine(.lock), torn) { $0.facts.lockContent = nil },
        Row("The log makes a whole store of it.", .open(checksWholeFile: true), torn) {
            $0.facts.byLog = .store(version: newest)
        },
        Row("The log makes a later store of it.", refuse(.newerSchema, "this program knows up to"), torn) {
            $0.facts.byLog = .store(version: later)
        },
        Row("The log makes nothing of it.", refuse(.notAStore, "not an SQLite database"), torn) {
            $0.facts.byLog = .noStore
        },
        Row("Without a lock file nothing says that this was a store.", refuse(.notAStore, "not an SQLite"), torn) {
            $0.setupLock = nil
            $0.facts.lock = nil
        },
        Row("An empty lock file says nothing.", refuse(.notAStore, "not an SQLite"), torn) {
            $0.facts.lock?.size = 0
        },
        Row("Another file in its place says nothing.", refuse(.notAStore, "not an SQLite"), torn) {
            $0.facts.lockContent = .other
        },
        Row("Without a log there is nothing else to read.", refuse(.notAStore, "not an SQLite"), torn) {
            $0.facts.log = nil
        },
        Row("A file of two bytes is none that SQLite takes for empty.", .examine(.wholeByLog), torn) {
            $0.facts.database?.size = 2
        },
        Row("SQLite would delete the log of a file of one byte.", refuse(.notAStore, "not an SQLite"), torn) {
            $0.facts.database?.size = 1
        },
    ]
}
