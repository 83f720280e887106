/// Numbers for the reasons for which a worker can't use the store's file, as the board and the lock file have them.
extension BreakerStoreError.Code {
    /// The place here + 1 is the number; new reasons go to the end.
    private static let numbered: [Self] = [
        .busy, .full, .corrupt, .unavailable, .permissionDenied, .notFound, .notAStore, .newerSchema, .unsafePath,
        .unsupportedFileSystem, .inUse, .foreignSchema, .olderSchema,
    ]

    /// Above 0; nil for a code that is no such reason.
    var number: UInt64? { Self.numbered.firstIndex(of: self).map { UInt64($0) + 1 } }

    /// Nil for 0, and for the number of a later release.
    init?(number: UInt64) {
        guard (1...UInt64(Self.numbered.count)).contains(number) else { return nil }
        self = Self.numbered[Int(number) - 1]
    }
}
