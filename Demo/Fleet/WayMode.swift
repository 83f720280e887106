#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The network between a host and PostgreSQL: a process that passes bytes on, and says in a line at which port.
///
/// Stopped by a signal, it is a network that is broken in the worst way: connections stay, and nothing comes through.
/// It ends when its input does.
final class WayMode {
    /// The first argument of a way.
    static let word = "way"

    private let goal: UInt16
    private let socket: Descriptor
    private let port: UInt16
    /// The other end of each connection.
    private var peers: [Descriptor: Descriptor] = [:]

    /// - Parameter goal: the port to which the way leads.
    static func arguments(to goal: UInt16) -> [String] { [Self.word, String(goal)] }

    init(arguments: [String]) throws {
        guard arguments.count == 2, let goal = UInt16(arguments[1]) else { throw DemoError.usage }
        self.goal = goal
        (self.socket, self.port) = try Loopback.newServer()
    }

    func run() {
        // An end that is gone is noticed when it is written to.
        signal(SIGPIPE, SIG_IGN)
        let input = Descriptor(STDIN_FILENO)
        Descriptor(STDOUT_FILENO).send("\(self.port)\n")
        while true {
            let watched = [input, self.socket] + self.peers.keys
            let ready = Descriptor.ready(of: watched, within: .seconds(3_600))
            if ready.contains(input) { return }
            for descriptor in ready where self.peers[descriptor] != nil { self.passOn(from: descriptor) }
            if ready.contains(self.socket) { self.accept() }
        }
    }

    private func accept() {
        while let caller = Loopback.caller(of: self.socket) {
            guard let server = try? Loopback.connection(to: self.goal) else {
                caller.shut()
                continue
            }
            self.peers[caller] = server
            self.peers[server] = caller
        }
    }

    private func passOn(from descriptor: Descriptor) {
        guard let peer = self.peers[descriptor] else { return }
        let bytes = descriptor.receive()
        if !bytes.isEmpty, peer.send(bytes) { return }
        for end in [descriptor, peer] {
            self.peers[end] = nil
            end.shut()
        }
    }
}
#endif
