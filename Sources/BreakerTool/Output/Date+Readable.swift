import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// The time for people, in UTC, to the second.
    package var readable: String {
        let text = self.rfc3339
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8) + "Z"
    }
    /// The time of day alone.
    package var readableTime: String { String(self.readable.dropFirst(11)) }
}
