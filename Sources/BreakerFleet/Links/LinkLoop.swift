#if PostgreSQL
import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The loop of a link's thread: acquires the file's seat, connects, and synchronises the file and the server.
final class LinkLoop {
    /// How often the link checks whether the file has changed.
    private static let poll: Duration = .milliseconds(15)
    /// How often a link that stands by tries to acquire the seat.
    private static let standbyInterval: Duration = .milliseconds(400)
    /// The longest pause between two tries to connect, short so that the link soon notices when the server is back.
    private static let longestBackOff: Duration = .seconds(1)

    private let store: CircuitStore
    private let settings: ConnectionSettings
    private let configuration: FleetLink.Configuration
    private let host: String
    private let wakeUp: WakeUp
    private let isStopped: () -> Bool
    private let publish: (FleetHealth) -> Void
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
        wakeUp: WakeUp, isStopped: @escaping () -> Bool, publish: @escaping (FleetHealth) -> Void,
        count: @escaping (Int) -> Void
    ) {
        self.store = store
        self.settings = settings
        self.configuration = configuration
        self.host = host
        self.wakeUp = wakeUp
        self.isStopped = isStopped
        self.publish = publish
        self.count = count
        self.seat = LinkSeat(of: store)
        self.circuits = LinkedCircuits(
            store, matching: configuration.circuits,
            CircuitLink.Settings(
                host: host, minimumHosts: configuration.minimumHosts,
                guardTime: configuration.guardTime.saturatingMicroseconds,
                lease: configuration.lease.saturatingMicroseconds),
            publish: configuration.onNews)
    }

    /// Runs until the owner stops the loop, or the store is closed.
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
                self.publish(.standby)
                _ = self.wakeUp.wait(for: Self.standbyInterval)
                continue
            }
            let start = ContinuousClock.now
            do throws(FleetError) {
                try self.join { backOff = .milliseconds(50) }
            } catch {
                self.reportCutOff(error)
                // A try that took as long as the pause, because no packet was answered, needs no further pause.
                let pause = backOff * Double.random(in: 0.5...1) - start.duration(to: .now)
                if pause > .zero { _ = self.wakeUp.wait(for: pause) }
                backOff = min(backOff * 2, Self.longestBackOff)
            }
            if self.store.isClosed { return }
        }
    }

    private func reportCutOff(_ error: FleetError) {
        let since = self.cutOffSince ?? Date()
        self.cutOffSince = since
        self.report(.cutOff(since: since, error: error))
    }

    /// Reports the health to the owner, and writes it beside the file if it has changed.
    private func report(_ health: FleetHealth) {
        let reason: String? = if case .cutOff(_, let error) = health { error.message } else { nil }
        if self.note?.isJoined != (reason == nil) || self.note?.reason != reason ?? "" {
            let note = LinkNote(
                isJoined: reason == nil, since: self.cutOffSince ?? Date(),
                pid: ProcessInfo.processInfo.processIdentifier, reason: reason ?? "")
            self.note = note
            self.store.note(note)
        }
        self.publish(health)
    }

    /// Synchronises over one connection until it is lost, another link has the seat, or the loop must end.
    private func join(_ onJoined: () -> Void) throws(FleetError) {
        let connection = try ServerConnection(
            self.settings, manner: .init(hasOwnSession: self.configuration.listens))
        defer { connection.close() }
        var registers = Registers(
            connection, fleet: self.configuration.fleet, host: self.host,
            lease: self.configuration.lease.saturatingMicroseconds)
        registers.schema = try registers.checkSchema()
        if self.configuration.listens { try registers.listen() }
        self.circuits.connected()
        while !self.isStopped(), self.seat.take(), !self.store.isClosed {
            let before = connection.statements
            defer { self.count(connection.statements - before) }
            try self.circuits.synchronize(with: registers)
            onJoined()
            if let trouble = self.circuits.trouble {
                self.reportCutOff(FleetError(code: trouble.code, message: "the link \(trouble.text)"))
            } else if self.circuits.isFileFresh {
                self.cutOffSince = nil
                self.report(.joined)
            } else {
                self.reportCutOff(
                    FleetError(
                        code: .unavailable, message: "the store's file can't be read, so the link shares no circuits"))
            }
            let wait = max(.milliseconds(1), min(Self.poll, self.circuits.timeUntilNextStep))
            _ = try connection.wait(for: wait, orWoken: self.wakeUp)
        }
        if self.isStopped() || self.store.isClosed { try? self.circuits.leave(registers) }
    }
}
#endif
