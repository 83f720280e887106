/// When the database and its log were last written.
struct FileStamp: Equatable {
    private struct One: Equatable {
        var number: FoundFile.Number
        var size: Int64
        var written: FoundFile.Time

        init?(_ path: String) {
            guard let found = FoundFile(path) else { return nil }
            (self.number, self.size, self.written) = (found.number, found.size, found.modified)
        }
    }

    private let database: One?
    private let log: One?

    init(of file: StoreFile) {
        self.database = One(file.path)
        self.log = One(file.log)
    }

    /// Whether both times of writing are more than 50 ms before `now` (Unix time, in seconds).
    ///
    /// A newer time may belong to the current tick of the kernel's clock, and a second write in that tick would not
    /// change it.
    func isSettled(at now: Double) -> Bool {
        [self.database, self.log].compactMap(\.self).allSatisfy {
            now - (Double($0.written.seconds) + Double($0.written.nanoseconds) / 1_000_000_000) > 0.05
        }
    }
}
