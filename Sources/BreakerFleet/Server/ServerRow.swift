#if PostgreSQL

/// A row of an answer: unchecked texts.
package struct ServerRow: Sendable, Hashable {
    let columns: [String?]

    /// The text of a column; nil for NULL and for a column that the server did not send.
    package func text(_ column: Int) -> String? { column < self.columns.count ? self.columns[column] : nil }

    /// The whole number in a column; nil for anything else.
    package func number(_ column: Int) -> Int64? { self.text(column).flatMap { Int64($0) } }

    package func flag(_ column: Int) -> Bool { self.text(column) == "t" }
}
#endif
