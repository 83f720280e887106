@testable import BreakerStore

/// Asks until it is so, where nothing can be awaited; false if it is not within a time that no machine needs.
func comesTrue(_ isSo: () -> Bool) -> Bool {
    let end = Deadline(after: .seconds(100))
    while !isSo() {
        if end.isOver { return false }
        end.pause(atMost: .milliseconds(1))
    }
    return true
}
