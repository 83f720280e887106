extension CircuitStore {
    /// A store in a directory of its own under the temporary directory, deleted on close.
    ///
    /// Throws as `init(path:configuration:)` does, and blocks the calling thread for as long.
    /// - Parameter configuration: how this process uses the file.
    public static func temporary(
        configuration: Configuration = Configuration()
    ) throws(BreakerStoreError) -> CircuitStore {
        CircuitStore(try Backend.temporary(configuration), configuration)
    }
}
