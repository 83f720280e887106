import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What may not be a store is refused with a reason, and nothing near it changes.
@Suite(.timeLimit(.minutes(10))) struct BadPathTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: BreakerStoreError.Code
        /// What the message must contain.
        let cause: String
        /// Puts into a directory what is there, and returns the path to be opened.
        let prepare: @Sendable (String) throws -> String

        init(
            _ what: String, _ code: BreakerStoreError.Code, _ cause: String,
            _ prepare: @escaping @Sendable (String) throws -> String
        ) {
            self.testDescription = what
            self.code = code
            self.cause = cause
            self.prepare = prepare
        }

        func check(_ directory: String, fileSystem: FileSystem = FileSystem()) throws {
            let path = try self.prepare(directory)
            let before = Listing(directory)
            for access in [Access.readWrite, .existing, .readOnly] {
                do throws(BreakerStoreError) {
                    _ = try Backend(path: path, configuration: Stores.configuration(access), fileSystem: fileSystem)
                    Issue.record("opened with \(access)")
                } catch {
                    #expect(error.code == self.code, "\(access): \(error)")
                    #expect(error.message.contains(self.cause), "\(access): \(error)")
                    #expect(error.advice != nil, "it must say what to do: \(error)")
                    #expect(error.path != nil || error.code == .invalidConfiguration, "\(error)")
                }
                #expect(Listing(directory) == before, "changed by \(access)")
            }
        }
    }

    static let names: [Case] = [
        Case("empty", .invalidConfiguration, "path is empty") { _ in "" },
        Case("zero byte", .invalidConfiguration, "zero byte") { "\($0)/a\0b" },
        Case("missing directory", .notFound, "No such file") { "\($0)/missing/a.db" },
        Case("file in place of a directory", .notFound, "Not a directory") {
            Files.write([], to: "\($0)/file")
            return "\($0)/file/a.db"
        },
        Case("directory", .unsafePath, "is a directory") { $0 },
        Case("trailing slash", .unsafePath, "is a directory") { "\($0)/" },
        Case("trailing slash behind a file", .unsafePath, "is a directory") {
            try Stores.make("\($0)/a.db")
            return "\($0)/a.db/"
        },
        Case("dot", .unsafePath, "is a directory") { "\($0)/." },
        Case("parent", .unsafePath, "is a directory") { "\($0)/.." },
        Case("root", .unsafePath, "is a directory") { _ in "/" },
        Case("long name", .unsafePath, "too long") { "\($0)/\(String(repeating: "a", count: 300))" },
        Case("name too long with -wal", .unsafePath, "too long") { "\($0)/\(String(repeating: "a", count: 253))" },
        Case("long path", .unsafePath, "too long") { directory in
            var path = directory
            for _ in 0..<5 {
                path += "/" + String(repeating: "d", count: 120)
                unsafe mkdir(path, 0o700)
            }
            return path + "/a.db"
        },
        Case("symlink loop", .unsafePath, "symbolic links") {
            unsafe symlink("b", "\($0)/a")
            unsafe symlink("a", "\($0)/b")
            return "\($0)/a"
        },
        Case("symlink to a missing directory", .notFound, "No such file") {
            unsafe symlink("missing/b", "\($0)/a")
            return "\($0)/a"
        },
        Case("symlink to a directory", .unsafePath, "is a directory") {
            unsafe mkdir("\($0)/d", 0o700)
            unsafe symlink("d", "\($0)/a")
            return "\($0)/a"
        },
    ]

    static let kinds: [Case] =
        [
            Case("/dev/null", .unsafePath, "not a regular file") { _ in "/dev/null" },
            Case("/dev/zero", .unsafePath, "not a regular file") { _ in "/dev/zero" },
            Case("fifo", .unsafePath, "not a regular file") {
                unsafe mkfifo("\($0)/a.db", 0o600)
                return "\($0)/a.db"
            },
            Case("socket", .unsafePath, "not a regular file") {
                #if canImport(Glibc)
                unsafe mknod("\($0)/a.db", S_IFSOCK | 0o600, 0)
                #else
                unsafe mkfifo("\($0)/a.db", 0o600)
                #endif
                return "\($0)/a.db"
            },
            Case("hard link", .unsafePath, "hard links") {
                try Stores.make("\($0)/a.db")
                unsafe link("\($0)/a.db", "\($0)/b.db")
                return "\($0)/b.db"
            },
        ]
        + ["-wal", "-shm", "-lock", "-journal"].flatMap { ending in
            [
                Case("hard link in place of \(ending)", .unsafePath, "hard links") {
                    Files.write([1, 2, 3], to: "\($0)/other")
                    unsafe link("\($0)/other", "\($0)/a.db\(ending)")
                    return "\($0)/a.db"
                },
                Case("directory in place of \(ending)", .unsafePath, "is a directory") {
                    unsafe mkdir("\($0)/a.db\(ending)", 0o700)
                    return "\($0)/a.db"
                },
            ]
        }

    static let contents: [Case] =
        [
            Case("0xFF", .notAStore, "not an SQLite database") {
                Files.write([UInt8](repeating: 0xFF, count: 10_000), to: "\($0)/a.db")
                return "\($0)/a.db"
            },
            Case("zeros", .notAStore, "not an SQLite database") {
                Files.write([UInt8](repeating: 0, count: 10_000), to: "\($0)/a.db")
                return "\($0)/a.db"
            },
            Case("one byte", .notAStore, "not an SQLite database") {
                Files.write([7], to: "\($0)/a.db")
                return "\($0)/a.db"
            },
            Case("the magic alone", .notAStore, "not an SQLite database") {
                Files.write("SQLite format 3\0".utf8, to: "\($0)/a.db")
                return "\($0)/a.db"
            },
            Case("a cut database", .notAStore, "another program") {
                try Strangers.make("\($0)/a.db", [], Strangers.rollback)
                unsafe truncate("\($0)/a.db", 5_000)
                return "\($0)/a.db"
            },
            Case("stranger, rollback mode", .notAStore, "another program") {
                try Strangers.make("\($0)/a.db", [], Strangers.rollback)
                return "\($0)/a.db"
            },
            Case("stranger, hot journal", .notAStore, "another program") {
                try Strangers.make("\($0)/a.db", ["-journal"], Strangers.hot)
                return "\($0)/a.db"
            },
        ]
        + [["-wal", "-shm"], ["-wal"]].map { endings in
            // All but an empty page is in the log.
            Case("stranger with \(endings)", .notAStore, "another program") {
                try Strangers.make("\($0)/a.db", endings, Strangers.log)
                return "\($0)/a.db"
            }
        }

    @Test(arguments: Self.names + Self.kinds + Self.contents)
    func isRefused(bad: Case) throws {
        try Files.withDirectory { try bad.check($0) }
    }

    /// With a sound store beside it, a foreign lock file is found out only when it is opened.
    @Test(arguments: ["not ours", "BreakerStore lock file 1\nand more", "BreakerStore lock file 2\n"])
    func foreignLockFile(text: String) throws {
        try Files.withDirectory { directory in
            try Stores.make("\(directory)/a.db")
            Files.write(text.utf8, to: "\(directory)/a.db-lock")
            let before = Listing(directory)
            let error = #expect(throws: BreakerStoreError.self) {
                try CircuitStore(path: "\(directory)/a.db", configuration: Stores.configuration())
            }
            #expect(error?.code == .unsafePath && error?.path == "\(directory)/a.db-lock", "\(error as Any)")
            #expect(Listing(directory) == before)
        }
    }

    @Test(arguments: [(Int64(0x6969), "NFS"), (0x6573_5546, "FUSE"), (0x0102_1997, "9p"), (0xFF53_4D42, "CIFS")])
    func otherFileSystem(number: Int64, name: String) throws {
        let bad = Case("", .unsupportedFileSystem, name) {
            try Stores.make("\($0)/a.db")
            return "\($0)/a.db"
        }
        try Files.withDirectory { try bad.check($0, fileSystem: FileSystem(number: { _ in number })) }
        let fresh = Case("", .unsupportedFileSystem, name) { "\($0)/a.db" }
        try Files.withDirectory { try fresh.check($0, fileSystem: FileSystem(number: { _ in number })) }
    }

    /// All fields are checked at once, before anything is made; `StoreConfigurationTests` has each of them.
    @Test func badConfigurationLeavesNoFile() throws {
        try Files.withDirectory { directory in
            let before = Listing(directory)
            var configuration = Stores.configuration()
            configuration.eventsKept = 0
            let error = #expect(throws: BreakerStoreError.self) {
                try CircuitStore(path: "\(directory)/a.db", configuration: configuration)
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(Listing(directory) == before)
        }
    }
}
