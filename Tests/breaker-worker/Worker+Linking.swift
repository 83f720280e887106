import BreakerStore

/// The seat of a file's one link.
extension Worker {
    /// `seat take|leave`: whether this process has the seat afterwards.
    func seat(_ command: Command) throws -> String {
        let seat = try self.linkSeat ?? LinkSeat(of: self.store)
        self.linkSeat = seat
        guard try command.word(0) == "take" else {
            seat.leave()
            return "taken=false"
        }
        return "taken=\(seat.take())"
    }
}
