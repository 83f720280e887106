extension Duration {
    /// What takes longer hangs: no machine, however busy, is that slow.
    package static let hangLimit = Duration.seconds(120)

    /// Longer than any test may take: who waits to its end hangs.
    package static let forEver = Duration.seconds(3_600)
}
