import BreakerTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KillLoop {
    /// A worker that becomes this program anew, with another library of SQLite.
    struct Recruit: Codable {
        private let process: Int
        private let plan: Plan
        private let path: String
        private let logs: String
        private let pipe: Int32
        private let parent: pid_t

        init(_ worker: Worker, _ parent: pid_t) {
            (self.process, self.plan, self.path) = (worker.process, worker.plan, worker.path)
            (self.logs, self.pipe) = (worker.logs, worker.pipe)
            self.parent = parent
        }

        /// Returns only if it can't be started.
        func start(_ library: String) -> Int32 {
            guard let order = try? JSONEncoder().encode(self) else { return 70 }
            SQLiteLibrary.load(from: library)
            _ = fcntl(self.pipe, F_SETFD, 0)
            let words = [
                BuiltProgram.path(of: "breaker-torture"), "role", Role.killWorker.rawValue,
                String(decoding: order, as: UTF8.self),
            ]
            var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
            _ = unsafe execv(words[0], &arguments)
            return 71
        }

        /// What the program does then.
        static func run(_ arguments: [String]) -> Int32 {
            guard let order = arguments.first,
                let recruit = try? JSONDecoder().decode(Self.self, from: Data(order.utf8))
            else { return 64 }
            let worker = Worker(
                process: recruit.process, plan: recruit.plan, path: recruit.path, logs: recruit.logs,
                pipe: recruit.pipe)
            return worker.run(childOf: recruit.parent)
        }
    }
}
