import CBenchmarks

/// What the calling thread, or the process, has done so far; nil where the system can't count it.
enum Counts {
    static var allocations: Int? { Self.count(bb_allocations()) }
    static var threadSyncs: Int? { Self.count(bb_thread_syncs()) }
    static var threadStatements: Int { Int(bb_thread_statements()) }
    static var processSyncs: Int? { Self.count(bb_process_syncs()) }

    private static func count(_ value: Int64) -> Int? { value < 0 ? nil : Int(value) }

    /// How much a count has grown.
    static func growth(from before: Int?, to after: Int?) -> Int? {
        guard let before, let after else { return nil }
        return after - before
    }
}
