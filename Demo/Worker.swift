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
    /// Whether the demo has killed it, or told it to end.
    var isGone: Bool { self.process.isKilled || self.isToldToEnd }
    private var isToldToEnd = false

    var name: String { self.process.name }

    init(_ process: ChildProcess) {
        self.process = process
    }

    func hear() {
        self.calls += self.process.hear().compactMap(Call.init(line:))
    }

    /// Its calls that began after the moment.
    func calls(since moment: Moment) -> ArraySlice<Call> { self.calls.drop { $0.started <= moment } }

    /// Tells it to end, as a deployment does: it finishes its call, closes its store, and exits.
    func tellToEnd() {
        self.isToldToEnd = true
        self.process.closeInput()
    }

    /// Waits until a worker that has closed its output is gone; throws if it did not end well.
    func waitForEnd() throws {
        guard self.process.end() == 0 else { throw DemoError.ended(self.name) }
    }

    /// Kills it with SIGKILL, and waits until it is gone; throws if it died of something else.
    func die() throws {
        self.process.die()
        guard self.process.end() == -SIGKILL else { throw DemoError.ended(self.name) }
    }
}
