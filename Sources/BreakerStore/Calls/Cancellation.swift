/// Decides whether an error was caused by the cancellation of the calling task.
enum Cancellation {
    /// Whether the user's code reports a failure explicitly: it counts even if the reporting task is cancelled.
    @TaskLocal static var isDisregarded = false

    /// Whether the cancellation caused an error: then the error says nothing about the service.
    ///
    /// Client libraries have errors of their own for a cancelled call, and some throw whatever error the cancellation
    /// leads to: so `Task.isCancelled` is checked, too.
    static func hasCaused(_ error: any Error) -> Bool {
        error is CancellationError || Task.isCancelled && !Self.isDisregarded
    }
}
