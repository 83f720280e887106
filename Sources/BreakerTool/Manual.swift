/// What a program's manual page says beside the tables of the help, in the language of mdoc(7).
package struct Manual: Sendable {
    /// The day on which the page was changed last, as mdoc(7) writes it.
    package let date: String
    /// What the program is for, in a few words.
    package let purpose: String
    /// What follows the program's sentence; lines that end with a line feed.
    package let description: String
    /// Which files the program uses; lines that end with a line feed.
    package let files: String
    /// The macros that name each file, and what is said of it.
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
