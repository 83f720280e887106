import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files and links that another user has put where root's service looks for its store.
///
/// Only root can make them.
struct OtherOwners {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    private static let nobody = uid_t(65_534)

    func cases() -> [HostileCase] {
        guard geteuid() == 0 else { return [] }
        let store = self.stock.stores[1]
        let outcomes = ["", "-wal", "-shm", "-lock"]
        var cases = outcomes.map { outcome in
            self.make("a.db\(outcome) is another's", mustRefuse: true) { place in
                _ = try store.write(to: place.store, nil)
                try Self.own(place.path + outcome)
            }
        }
        cases += [
            self.make("an empty file of another", mustRefuse: true) { place in
                try FileBytes.write([], to: place.path)
                try Self.own(place.path)
            },
            self.make("another's empty lock file", mustRefuse: true) { place in
                try FileBytes.write([], to: place.path + "-lock")
                try Self.own(place.path + "-lock")
            },
            self.make("another's dangling link", mustRefuse: true) { place in
                guard unsafe symlink(place.target, place.path) == 0 else { throw SystemError("link") }
                try Self.own(place.path)
            },
            self.make("another's link to a store", mustRefuse: true) { place in
                _ = try store.write(to: place.store, nil)
                try place.move(place.path, to: place.store + "/real")
                guard unsafe symlink("real", place.path) == 0 else { throw SystemError("link") }
                try Self.own(place.path)
            },
            self.make("all is another's", mustRefuse: true) { place in
                _ = try store.write(to: place.store, nil)
                for outcome in outcomes { try Self.own(place.path + outcome) }
            },
            // Nobody needs the board: another's is not used, and the store opens.
            self.make("a.db-board is another's", mustRefuse: false) { place in
                _ = try store.write(to: place.store, nil)
                try Self.own(place.path + "-board")
            },
        ]
        // A service's own directory: root looks after it.
        var own = HostileCase(kind: "owners", name: "the directory and all in it is another's") { place in
            _ = try store.write(to: place.store, nil)
            for path in [place.store] + outcomes.map({ place.path + $0 }) { try Self.own(path) }
        }
        own.keepsOthers = true
        return cases + [own]
    }

    private func make(
        _ name: String, mustRefuse: Bool, _ make: @escaping @Sendable (HostilePlace) throws -> Void
    ) -> HostileCase {
        var made = HostileCase(kind: "owners", name: "\(name), in a sticky directory") { place in
            try make(place)
            guard unsafe chmod(place.store, 0o1777) == 0 else { throw SystemError("open \(place.store) to all") }
        }
        made.mustRefuse = mustRefuse
        return made
    }

    private static func own(_ path: String) throws {
        guard unsafe lchown(path, self.nobody, self.nobody) == 0 else { throw SystemError("give \(path) away") }
    }
}
