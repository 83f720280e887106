import BreakerStore
import BreakerTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// Ends this process at the n-th step of one place: a named hook of the library, or a system call by which SQLite
    /// locks or changes a file.
    enum Steps {
        private static let target = Atomic<Int>(-1)
        private static let left = Atomic<Int>(0)
        private static let log = Locked<CallLog?>(nil)
        private static let inside = Atomic<UInt32>(0)

        /// Innermost first.
        private static let order: [Place] = [
            .quarantine, .migration, .checkpoint, .transaction, .creation, .open, .close,
        ]

        static func install(_ place: Place, _ step: Int, _ log: CallLog) {
            Self.log.withLock { $0 = log }
            Self.left.store(step, ordering: .relaxed)
            Self.target.store(place.rawValue, ordering: .relaxed)
            #if BREAKERSTORE_HOOKS
            Hook.install { Self.reached(hook: $0) }
            #endif
            DiskSteps.install(withLocks: true) { Self.count() }
        }

        static func enter(_ place: Place) { Self.inside.bitwiseOr(1 << UInt32(place.rawValue), ordering: .relaxed) }

        static func leave(_ place: Place) { Self.inside.bitwiseAnd(~(1 << UInt32(place.rawValue)), ordering: .relaxed) }

        private static func reached(hook: String) {
            switch hook {
            case "quarantine.begin": Self.enter(.quarantine)
            case "migration.begin": Self.enter(.migration)
            case "checkpoint.locked": Self.enter(.checkpoint)
            case "commit.begin": Self.enter(.transaction)
            case "creation.file": Self.enter(.creation)
            default: break
            }
            DiskSteps.reached()
            switch hook {
            case "quarantine.done": Self.leave(.quarantine)
            case "migration.done": Self.leave(.migration)
            case "checkpoint.done": Self.leave(.checkpoint)
            case "commit.done": Self.leave(.transaction)
            case "creation.freed": Self.leave(.creation)
            default: break
            }
        }

        private static var place: Place {
            let inside = Self.inside.load(ordering: .relaxed)
            return Self.order.first { inside & (1 << UInt32($0.rawValue)) != 0 } ?? .calls
        }

        private static func count() {
            let place = Self.place
            guard place.rawValue == Self.target.load(ordering: .relaxed),
                Self.left.subtract(1, ordering: .relaxed).newValue == 0
            else { return }
            Self.log.withLock { $0?[.place] = Int64(place.rawValue) }
            // Meanwhile the others of this process note what they were told.
            usleep(500)
            kill(getpid(), SIGKILL)
            while true { pause() }
        }
    }
}
