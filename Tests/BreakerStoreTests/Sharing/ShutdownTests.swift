import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

/// The end of a service's workers says nothing about the services that they call.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ShutdownTests {
    /// Answers nobody: a service that is slow just now, and healthy.
    private final class SlowService: Sendable {
        let port: UInt16
        private let listener: Int32
        private let callers = Locked<[Int32]>([])

        init() throws {
            #if canImport(Darwin)
            let listener = socket(AF_INET, SOCK_STREAM, 0)
            #else
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #endif
            self.listener = listener
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isOpen = unsafe withUnsafeMutablePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe bind(listener, address, size) == 0 && listen(listener, 64) == 0
                        && getsockname(listener, address, &size) == 0
                }
            }
            guard isOpen, fcntl(listener, F_SETFL, O_NONBLOCK) == 0 else { throw SystemError("listen on a port") }
            self.port = UInt16(bigEndian: address.sin_port)
        }

        var requests: Int { self.callers.withLock { $0.count } }

        /// Takes the requests that have come.
        func take() {
            while true {
                let caller = accept(self.listener, nil, nil)
                guard caller >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 4_096)
                // Returns when the request has come.
                guard unsafe read(caller, &bytes, bytes.count) > 0 else { continue }
                self.callers.withLock { $0.append(caller) }
            }
        }

        deinit {
            for caller in self.callers.withLock({ $0 }) { close(caller) }
            close(self.listener)
        }
    }

    /// URLSession throws an error of its own for a cancelled call.
    @Test func cancelledCallsOfAllWorkersCountNothing() async throws {
        let place = try Workplace.here
        let service = try SlowService()
        let workers = try await place.openWorkers(6, "system-clock")
        try await workers.ask("breaker service")
        try await workers.ask("http begin service http://127.0.0.1:\(service.port)/ 4")
        let haveCome = await eventually {
            service.take()
            return service.requests == 24
        }
        #expect(haveCome)
        for worker in workers { worker.terminate() }
        for worker in workers {
            let result = try await worker.ask("http ends")
            #expect(result.number("fallbacks") == 0)
            #expect(result["thrown"] == "URLError.cancelled")
            #expect(await worker.quit() == 0)
        }
        let store = try CircuitStore(path: place.store, configuration: Stores.configuration())
        defer { store.close() }
        let circuit = try #require(try await store.circuit(named: "service"))
        #expect(circuit.failures.isEmpty)
        #expect(circuit.state == .closed)
        #expect(circuit.lastError == nil)
    }
}
