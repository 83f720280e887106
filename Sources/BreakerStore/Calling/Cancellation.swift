/// Decides whether the cancellation of the calling task caused an error.
enum Cancellation {
    /// Whether the code reports a failure on purpose: the report counts even if the reporting task is cancelled.
    @TaskLocal static var isDisregarded = false

    /// Whether the cancellation caused an error: the service may be well.
    ///
    /// Client libraries have errors of their own for a cancelled call, and some throw any error to which the
    /// cancellation leads, so the task is asked, too.
    static func hasCaused(_ error: any Error) -> Bool {
        error is CancellationError || Task.isCancelled && !Self.isDisregarded
    }
}
