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

    /// Whether both files were last written so long before `now` (Unix time, in seconds) that a further write would
    /// change a time: the kernel's file times advance in ticks of its timer.
    func isSettled(at now: Double) -> Bool {
        [self.database, self.log].compactMap(\.self).allSatisfy {
            now - (Double($0.written.seconds) + Double($0.written.nanoseconds) / 1_000_000_000) > 0.05
        }
    }
}
