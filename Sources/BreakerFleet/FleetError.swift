#if PostgreSQL
import BreakerStore

/// An error that keeps a link from the other hosts.
public struct FleetError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error: an open set, so that kinds can be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, such as `unreachable`.
        public let description: String

        private init(_ name: String) { self.description = name }

        /// A value of the configuration is not allowed, or the connection string is malformed.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// There is no connection to the server, or no longer.
        public static let unreachable = Code("unreachable")
        /// The server refuses this user, or refuses a link a right that it needs.
        public static let refused = Code("refused")
        /// The database has no schema `fleet`, or one of another major version.
        public static let wrongSchema = Code("wrongSchema")
        /// Another file's link has the same host name, or this file is a copy of another host's file.
        public static let duplicateHost = Code("duplicateHost")
        /// The server did not answer in time.
        public static let timedOut = Code("timedOut")
        /// The server, the store's file or the system can't do what was asked just now.
        public static let unavailable = Code("unavailable")
    }

    /// The kind of the error.
    public var code: Code
    /// A description of the problem for people, without the connection string or a password.
    public var message: String

    /// Creates an error, for example for a test.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, on one line.
    public var description: String { "FleetError.\(self.code): \(self.message.escaped)" }
}
#endif
