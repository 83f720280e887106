extension Duration {
    /// What takes longer hangs: no machine, however busy, is that slow.
    static let hangLimit = Duration.seconds(120)

    /// Longer than any test may take: who waits to its end hangs.
    static let forEver = Duration.seconds(3_600)
}

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
