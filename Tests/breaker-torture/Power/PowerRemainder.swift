/// What a cut has left, for a run that goes on from there.
struct PowerRemainder {
    let files: [String: [UInt8]]
    /// Whether the database is one that had to be set aside before the power went, and has not been yet.
    let isBroken: Bool
    /// How often the host has booted by then.
    let boots: Int
}
