#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A worker process, as the demo sees it.
final class Worker {
    let process: ChildProcess
    /// Its calls so far, in order.
    private(set) var calls: [Call] = []
    /// Whether the demo has killed it.
    var isDead: Bool { self.process.isKilled }

    var name: String { self.process.name }

    init(_ process: ChildProcess) {
        self.process = process
    }

    func hear() {
        self.calls += self.process.hear().compactMap(Call.init(line:))
    }

    /// Its calls that began after the moment.
    func calls(since moment: Moment) -> ArraySlice<Call> { self.calls.drop { $0.started <= moment } }

    /// Kills it with SIGKILL, and waits until it is gone; throws if it died of something else.
    func die() throws {
        self.process.die()
        guard self.process.end() == -SIGKILL else { throw DemoError.ended(self.name) }
    }
}
