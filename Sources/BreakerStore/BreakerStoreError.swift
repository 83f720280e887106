/// An error of the library itself, except a circuit's refusals and timeouts.
public struct BreakerStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error: open, so that versions can add kinds.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, such as `notFound`.
        public let description: String

        private init(_ name: String) { self.description = name }

        /// A value of a configuration is not allowed; the message names the field and the allowed values.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The file is not a store of circuits; the library left it unchanged.
        public static let notAStore = Code("notAStore")
        /// A later major version made the file; the library left it unchanged.
        public static let newerSchema = Code("newerSchema")
        /// The file has an older schema, which this process may not migrate, or which this release no longer migrates;
        /// the library left it unchanged.
        public static let olderSchema = Code("olderSchema")
        /// The tables of the file differ from those that this library makes; the library left them unchanged.
        public static let foreignSchema = Code("foreignSchema")
        /// Processes can't share a file safely on this file system, such as one on the network.
        public static let unsupportedFileSystem = Code("unsupportedFileSystem")
        /// The path names something that may not be a store, such as a directory or a file with a second hard link.
        public static let unsafePath = Code("unsafePath")
        /// There is no such file or directory.
        public static let notFound = Code("notFound")
        /// The process may not read or write the file.
        public static let permissionDenied = Code("permissionDenied")
        /// The file stayed locked until the deadline.
        public static let busy = Code("busy")
        /// The file system is full.
        public static let full = Code("full")
        /// The file, or a row of it, can't be read.
        public static let corrupt = Code("corrupt")
        /// The file can't be used just now.
        public static let unavailable = Code("unavailable")
        /// The store has no circuit of this name.
        public static let noSuchCircuit = Code("noSuchCircuit")
        /// The file or circuit that was to be removed or replaced is in use.
        public static let inUse = Code("inUse")
        /// The store was closed.
        public static let closed = Code("closed")
        /// The process is a child, by `fork`, of the process that opened the store.
        public static let forked = Code("forked")
        /// The store was opened for reading only.
        public static let readOnly = Code("readOnly")
    }

    /// The kind of the error.
    public var code: Code
    /// The text that explains the error to people; it contains no stored or bound value.
    public var message: String
    /// Advice for people, where the library has any.
    public var advice: String?
    /// SQLite's extended result code; nil unless SQLite failed.
    public var sqliteCode: Int32?
    /// The file or directory that the error is about.
    public var path: String?

    /// Creates an error for tests.
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
