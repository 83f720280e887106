#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A log on standard error: one line for each change, from any thread.
struct ServiceLog: Sendable {
    enum Weight: Int {
        case warning = 4
        case notice = 5
    }

    private let isForJournal = ServiceManager.readsErrors

    func write(_ text: String, about host: String, _ weight: Weight = .notice) {
        let prefix = self.isForJournal ? "<\(weight.rawValue)>" : "\(Date().rfc3339) "
        // One call, so that the lines of several threads never mix.
        _ = Descriptor.write(Array("\(prefix)\(host.escaped): \(text)\n".utf8), to: STDERR_FILENO)
    }
}

extension FleetHealth {
    /// The log line for this health.
    var line: (text: String, weight: ServiceLog.Weight) {
        switch self {
        case .joined: ("joined: circuits are shared with the other hosts", .notice)
        case .standby: ("stands by: another process runs the link of this file", .notice)
        case .cutOff(_, let error): ("cut off, this host guards itself: \(error.message.escaped)", .warning)
        case .closed: ("stopped", .notice)
        }
    }
}
#endif
