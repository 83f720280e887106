/// Whether the cancellation of the calling task says what an error means.
enum Cancellation {
    /// Whether somebody reports a failure on purpose: the report counts even if the reporting task is cancelled.
    @TaskLocal static var isDisregarded = false

    /// Whether an error is the cancellation's doing: the service may be well.
    ///
    /// Client libraries have errors of their own for a cancelled call, and some throw whatever the cancellation has
    /// broken, so the task is asked, too.
    static func hasCaused(_ error: any Error) -> Bool {
        error is CancellationError || Task.isCancelled && !Self.isDisregarded
    }
}
