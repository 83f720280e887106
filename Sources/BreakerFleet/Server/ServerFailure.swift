#if PostgreSQL

/// The meaning of a server's errors.
enum ServerFailure {
    /// The code for an SQLSTATE; see "PostgreSQL Error Codes", appendix A of the manual.
    static func code(of state: String) -> FleetError.Code {
        switch state {
        // No such database; insufficient privilege.
        case "3D000", "42501": .refused
        // No such schema, table, column or function: the schema's script creates all of them together.
        case "3F000", "42P01", "42703", "42883": .wrongSchema
        // Canceled by statement_timeout; lock_timeout.
        case "57014", "55P03": .timedOut
        // Invalid authorization.
        case _ where state.hasPrefix("28"): .refused
        default: .unavailable
        }
    }

    /// The SQLSTATE in a verbose message of libpq, as in `FATAL:  28P01: password authentication failed`.
    ///
    /// While libpq connects, it gives the SQLSTATE in no other way.
    static func state(in message: String) -> String? {
        message.split(separator: ":").lazy.map { $0.drop { $0 == " " } }.first { word in
            word.utf8.count == 5 && word.utf8.contains { $0 >= 0x30 && $0 <= 0x39 }
                && word.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x41 && $0 <= 0x5A) }
        }.map { String($0) }
    }

    /// A verbose message on one line, without the server's source file and line.
    static func brief(_ message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).filter { line in
            let words = line.split(separator: ":")
            return !(words.count > 2 && words[words.count - 2].hasSuffix(".c") && words.last.flatMap { Int($0) } != nil)
        }
        return lines.map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
    }
}
#endif
