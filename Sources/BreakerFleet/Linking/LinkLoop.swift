#if PostgreSQL
import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The work of a link's thread: takes the file's seat, connects, and keeps file and server together.
final class LinkLoop {
    /// How often the link checks whether the file has changed.
    private static let poll: Duration = .milliseconds(15)
    /// How often a link that stands by asks for the seat.
    private static let patience: Duration = .milliseconds(400)
    /// The longest pause between two tries to connect, short so that the link soon notices a server that is back.
    private static let longestBackOff: Duration = .seconds(1)

    private let store: CircuitStore
    private let settings: ConnectionSettings
    private let configuration: FleetLink.Configuration
    private let host: String
    private let wakeUp: WakeUp
    private let isStopped: () -> Bool
    private let tell: (FleetHealth) -> Void
    /// Called with the number of statements sent.
    private let count: (Int) -> Void
    private let seat: LinkSeat
    /// Outlives each connection.
    private let circuits: LinkedCircuits
    private var cutOffSince: Date?
    /// The last note beside the file, where the tools of this host read it.
    private var note: LinkNote?

    init(
        _ store: CircuitStore, _ settings: ConnectionSettings, _ configuration: FleetLink.Configuration, host: String,
        wakeUp: WakeUp, isStopped: @escaping () -> Bool, tell: @escaping (FleetHealth) -> Void,
        count: @escaping (Int) -> Void
    ) {
        self.store = store
        self.settings = settings
        self.configuration = configuration
        self.host = host
        self.wakeUp = wakeUp
        self.isStopped = isStopped
        self.tell = tell
        self.count = count
        self.seat = LinkSeat(of: store)
        self.circuits = LinkedCircuits(
            store, matching: configuration.circuits,
            CircuitLink.Settings(
                host: host, minimumHosts: configuration.minimumHosts,
                guardTime: configuration.guardTime.saturatingMicroseconds,
                lease: configuration.lease.saturatingMicroseconds),
            tell: configuration.onNews)
    }

    /// Works until the owner stops the loop, or the store is closed.
    func run() {
        self.store.linkBegan()
        self.work()
        // This link still has the seat, so the note can't be another link's.
        if self.note != nil { self.store.note(nil) }
    }

    private func work() {
        var backOff: Duration = .milliseconds(50)
        while !self.isStopped() {
            guard self.seat.take() else {
                if self.store.isClosed { return }
                self.cutOffSince = nil
                self.circuits.forget()
                self.note = nil
                self.tell(.standby)
                _ = self.wakeUp.wait(for: Self.patience)
                continue
            }
            let began = ContinuousClock.now
            do throws(FleetError) {
                try self.join { backOff = .milliseconds(50) }
            } catch {
                self.sayCutOff(error)
                // After a try as long as the pause, as into a black hole, the next follows at once.
                let pause = backOff * Double.random(in: 0.5...1) - began.duration(to: .now)
                if pause > .zero { _ = self.wakeUp.wait(for: pause) }
                backOff = min(backOff * 2, Self.longestBackOff)
            }
            if self.store.isClosed { return }
        }
    }

    private func sayCutOff(_ error: FleetError) {
        let since = self.cutOffSince ?? Date()
        self.cutOffSince = since
        self.say(.cutOff(since: since, error: error))
    }

    /// Reports the health to the owner, and writes it beside the file if it has changed.
    private func say(_ health: FleetHealth) {
        let reason: String? = if case .cutOff(_, let error) = health { error.message } else { nil }
        if self.note?.isJoined != (reason == nil) || self.note?.reason != reason ?? "" {
            let note = LinkNote(
                isJoined: reason == nil, since: self.cutOffSince ?? Date(),
                pid: ProcessInfo.processInfo.processIdentifier, reason: reason ?? "")
            self.note = note
            self.store.note(note)
        }
        self.tell(health)
    }

    /// Works on one connection until it is lost, another link has the seat, or the loop must end.
    private func join(_ onJoined: () -> Void) throws(FleetError) {
        let connection = try ServerConnection(
            self.settings, manner: .init(hasOwnSession: self.configuration.listens))
        defer { connection.close() }
        let registers = Registers(
            connection, fleet: self.configuration.fleet, host: self.host,
            lease: self.configuration.lease.saturatingMicroseconds)
        try registers.checkSchema()
        if self.configuration.listens { try registers.listen() }
        self.circuits.connected()
        while !self.isStopped(), self.seat.take(), !self.store.isClosed {
            let before = connection.statements
            defer { self.count(connection.statements - before) }
            try self.circuits.keepTogether(with: registers)
            onJoined()
            if let trouble = self.circuits.trouble {
                self.sayCutOff(FleetError(code: trouble.code, message: "the link \(trouble.text)"))
            } else if self.circuits.isFileFresh {
                self.cutOffSince = nil
                self.say(.joined)
            } else {
                self.sayCutOff(
                    FleetError(code: .unavailable, message: "the store's file can't be read, so nothing is joined"))
            }
            let wait = max(.milliseconds(1), min(Self.poll, self.circuits.untilNextWaking))
            _ = try connection.wait(for: wait, orWoken: self.wakeUp)
        }
        if self.isStopped() || self.store.isClosed { try? self.circuits.leave(registers) }
    }
}
#endif
