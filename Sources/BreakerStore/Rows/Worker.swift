/// A process that has the file open: one worker for all its stores on the file.
struct Worker: Sendable, Hashable {
    var id: Int64
    var name: String
    var pid: Int32
    /// The release of the library that it runs, as its row says.
    var version: String?
}
