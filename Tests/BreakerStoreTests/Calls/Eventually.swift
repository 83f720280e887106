import BreakerTestSupport

/// Asks until it is so; false if it hangs.
///
/// Goes on in a cancelled task.
func eventually(_ isSo: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .hangLimit
    while !isSo() {
        if ContinuousClock.now > end { return false }
        await Task.yield()
        try? await Task.sleep(for: .milliseconds(1))
    }
    return true
}
