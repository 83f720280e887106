/// This process's place among those who share the file: one for each open store.
struct Worker: Sendable, Hashable {
    var id: Int64
    var name: String
    var pid: Int32
}
