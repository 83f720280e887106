#if PostgreSQL
import CPostgreSQL

/// The settings of a connection: libpq's connection string, completed by a link's own settings.
package struct ConnectionSettings: Sendable {
    /// libpq's keywords and their values: a list for each server of the connection string, in its order.
    private(set) var servers: [[Setting]]
    /// The passwords, which no message may show.
    private let secrets: [String]

    struct Setting: Sendable {
        var keyword: String
        var value: String
    }

    /// A link's settings, for keywords that the user's string leaves out.
    ///
    /// The time-outs belong to one socket, and cost a healthy connection nothing. A link relies on the deadlines of
    /// `ServerConnection`; with these settings the kernel ends a dead connection while no thread waits for it. A link
    /// skips a standby, because it can't write to it (`target_session_attrs`).
    private static let defaults = [
        ("connect_timeout", "2"), ("keepalives", "1"), ("keepalives_idle", "2"), ("keepalives_interval", "1"),
        ("keepalives_count", "2"), ("tcp_user_timeout", "3000"), ("target_session_attrs", "read-write"),
        ("fallback_application_name", "breaker-fleet"),
    ]

    /// Parses libpq's connection string or URI.
    ///
    /// - Throws: `invalidConfiguration` for a malformed string, without repeating it: any part may be a password.
    package init(parsing text: String) throws(FleetError) {
        guard var settings = Self.parse(text) else {
            throw FleetError(
                code: .invalidConfiguration,
                message: "the connection string is malformed; it is 'keyword=value ...' or a postgresql:// URI of libpq"
            )
        }
        self.secrets = settings.filter { ["password", "sslpassword"].contains($0.keyword) }.map(\.value)
        for (keyword, value) in Self.defaults where !settings.contains(where: { $0.keyword == keyword }) {
            settings.append(Setting(keyword: keyword, value: value))
        }
        settings.removeAll { $0.keyword == "client_encoding" }
        settings.append(Setting(keyword: "client_encoding", value: "UTF8"))
        self.servers = Self.separated(settings)
    }

    /// Whether the string contains a password, which a process list or a unit file would show.
    var holdsSecret: Bool { !self.secrets.isEmpty }

    /// Parses the string by libpq; nil if the string is malformed.
    private static func parse(_ text: String) -> [Setting]? {
        // PQconninfoParse: "If an error occurs, then NULL is returned". This does not request the message, which may
        // repeat the string. A zero byte would end the string early.
        guard !text.utf8.contains(0), let options = unsafe PQconninfoParse(text, nil) else { return nil }
        defer { unsafe PQconninfoFree(options) }
        var settings: [Setting] = []
        // "The array ... is terminated by an entry having a null keyword pointer."
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                settings.append(unsafe Setting(keyword: String(cString: keyword), value: String(cString: value)))
            }
            unsafe option += 1
        }
        return settings
    }

    /// Splits the settings into a list for each server, so that each server has a deadline of its own.
    ///
    /// With several servers in one list, libpq would wait for the first until its caller gives up: PQconnectPoll has no
    /// time-out.
    private static func separated(_ settings: [Setting]) -> [[Setting]] {
        let addressKeywords = ["host", "hostaddr", "port"]
        let lists = addressKeywords.map { keyword in
            settings.first { $0.keyword == keyword }?.value
                .split(separator: ",", omittingEmptySubsequences: false).map { String($0) } ?? []
        }
        let count = max(lists[0].count, lists[1].count)
        // libpq itself reports lists whose lengths differ.
        guard count > 1, lists.allSatisfy({ [0, 1, count].contains($0.count) }) else { return [settings] }
        let others = settings.filter { !addressKeywords.contains($0.keyword) }
        return (0..<count).map { index in
            others
                + zip(addressKeywords, lists).compactMap { keyword, list in
                    guard let value = list.count == 1 ? list[0] : list.isEmpty ? nil : list[index] else { return nil }
                    return Setting(keyword: keyword, value: value)
                }
        }
    }

    /// A message of libpq or of a server, escaped for people; nil if it contains a password.
    func withoutPassword(_ message: String) -> String? {
        guard !self.secrets.contains(where: { !$0.isEmpty && message.contains($0) }) else { return nil }
        return ServerText.shown(message)
    }
}
#endif
