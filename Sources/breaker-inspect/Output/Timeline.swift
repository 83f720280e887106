import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Draws when events happened within a window: a digit for how many, `+` for ten and more.
enum Timeline {
    static func text(_ times: [Date], window: Duration, endingAt now: Date, slots: Int = 40) -> String {
        let milliseconds = max(1, window.wholeMilliseconds)
        var counts = [Int](repeating: 0, count: slots)
        for time in times {
            let age = min(max(0, now.since(time).wholeMilliseconds), milliseconds)
            let place = Double(milliseconds - age) / Double(milliseconds) * Double(slots)
            counts[min(Int(place), slots - 1)] += 1
        }
        return counts.map { $0 == 0 ? "." : $0 < 10 ? String($0) : "+" }.joined()
    }
}
