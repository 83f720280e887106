/// Numbers for the reasons why a worker can't use the store's file, as the board and the lock file store them.
extension BreakerStoreError.Code {
    /// A reason's number is its index here + 1, so new reasons go to the end.
    private static let numbered: [Self] = [
        .busy, .full, .corrupt, .unavailable, .permissionDenied, .notFound, .notAStore, .newerSchema, .unsafePath,
        .unsupportedFileSystem, .inUse, .foreignSchema, .olderSchema,
    ]

    /// The number, at least 1; nil for a code that is no such reason.
    var number: UInt64? { Self.numbered.firstIndex(of: self).map { UInt64($0) + 1 } }

    /// The reason with this number; nil for 0, and for a number that only a later release knows.
    init?(number: UInt64) {
        guard (1...UInt64(Self.numbered.count)).contains(number) else { return nil }
        self = Self.numbered[Int(number) - 1]
    }
}
