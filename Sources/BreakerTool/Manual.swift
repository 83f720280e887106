/// The texts of a program's manual page that the help does not have, in the language of mdoc(7).
package struct Manual: Sendable {
    /// The day of the last change, as mdoc(7) writes it.
    package let date: String
    /// The program's purpose, in a few words.
    package let purpose: String
    /// The text after the program's sentence; its lines end with a line feed.
    package let description: String
    /// The text about the program's files; its lines end with a line feed.
    package let files: String
    /// The macros that name each file, and the file's description.
    package let fileList: [(macros: String, help: String)]
    /// Other pages, such as `sqlite3 1`.
    package let seeAlso: [String]

    package init(
        date: String, purpose: String, description: String, files: String,
        fileList: [(macros: String, help: String)], seeAlso: [String]
    ) {
        self.date = date
        self.purpose = purpose
        self.description = description
        self.files = files
        self.fileList = fileList
        self.seeAlso = seeAlso
    }
}
