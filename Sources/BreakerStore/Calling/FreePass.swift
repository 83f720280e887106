/// Leave for a call that the kept answer alone lets through.
@usableFromInline
struct FreePass: Sendable {
    /// The epoch of the closed circuit that lets the call through.
    let epoch: Int64
    /// The uptime at which the operation begins; `notMeasured` where nobody asks how long it takes.
    ///
    /// Not an optional, so that a pass is handed over in registers.
    let began: Int64

    static let notMeasured = Int64.min

    /// Whether somebody asks how long the call takes.
    @usableFromInline
    var isMeasured: Bool { self.began != Self.notMeasured }

    var admitted: Admitted { .counted(epoch: self.epoch, reportsSuccess: false) }
}
