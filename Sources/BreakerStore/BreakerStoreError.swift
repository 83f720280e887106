/// What went wrong with a store: all that the library itself throws, but for a circuit's refusals and timeouts.
public struct BreakerStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error: open, so that kinds can be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, such as `notFound`.
        public let description: String

        private init(_ name: String) { self.description = name }

        /// A value of a configuration is not allowed; the message names the field and what is.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The file is not a store of circuits; it was left as it is.
        public static let notAStore = Code("notAStore")
        /// The file was made by a later major version; it was left as it is.
        public static let newerSchema = Code("newerSchema")
        /// The tables of the file are not as this library makes them; they were left as they are.
        public static let foreignSchema = Code("foreignSchema")
        /// The file system can't be shared safely, such as one on the network.
        public static let unsupportedFileSystem = Code("unsupportedFileSystem")
        /// The path names something that may not be a store, such as a directory or a file with a second hard link.
        public static let unsafePath = Code("unsafePath")
        /// There is no such file or directory.
        public static let notFound = Code("notFound")
        /// The process may not read or write the file.
        public static let permissionDenied = Code("permissionDenied")
        /// Others kept the file locked until the deadline.
        public static let busy = Code("busy")
        /// The file system is full.
        public static let full = Code("full")
        /// The file, or a row of it, can't be read.
        public static let corrupt = Code("corrupt")
        /// The file can't be used just now.
        public static let unavailable = Code("unavailable")
        /// The store has no circuit of this name.
        public static let noSuchCircuit = Code("noSuchCircuit")
        /// Others use what was to be removed or replaced.
        public static let inUse = Code("inUse")
        /// The store was closed.
        public static let closed = Code("closed")
        /// The process is a fork of the one that opened the store.
        public static let forked = Code("forked")
        /// The store was opened to be read.
        public static let readOnly = Code("readOnly")
    }

    /// The kind of the error.
    public var code: Code
    /// What went wrong, for people; no value that was stored or bound is in it.
    public var message: String
    /// What to do about it, for people, where that can be said.
    public var advice: String?
    /// SQLite's extended result code, when it was SQLite that failed.
    public var sqliteCode: Int32?
    /// The file or directory that it is about.
    public var path: String?

    /// Creates an error, as a test may need one.
    public init(
        code: Code, message: String, advice: String? = nil, sqliteCode: Int32? = nil, path: String? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.sqliteCode = sqliteCode
        self.path = path
    }

    /// The code, the message and the advice, then the path and SQLite's code where there are any, on one line.
    public var description: String {
        var text = "BreakerStoreError.\(self.code): \(self.message.escaped)"
        if let advice = self.advice { text += "; \(advice.escaped)" }
        if let path = self.path { text += " [\(path.escaped)]" }
        if let sqliteCode = self.sqliteCode { text += " [SQLite \(sqliteCode)]" }
        return text
    }
}
