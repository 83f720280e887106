#if PostgreSQL

/// A row of an answer: texts that no code has checked yet.
package struct ServerRow: Sendable, Hashable {
    let columns: [String?]

    /// The text of a column; nil for NULL and for a column that the server did not send.
    package func text(_ column: Int) -> String? { column < self.columns.count ? self.columns[column] : nil }

    /// A whole number; nil for anything else.
    package func number(_ column: Int) -> Int64? { self.text(column).flatMap { Int64($0) } }

    package func flag(_ column: Int) -> Bool { self.text(column) == "t" }
}
#endif
