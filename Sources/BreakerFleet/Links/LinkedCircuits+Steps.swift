#if PostgreSQL
import BreakerStore

/// Takes the steps of one circuit in one turn.
extension LinkedCircuits {
    /// Asks the circuit's state machine for steps, and carries them out.
    func takeSteps(_ name: String, _ count: Count?, _ registers: Registers) throws(FleetError) {
        guard var link = self.links[name] else { return }
        defer { self.links[name] = link }
        for _ in 0..<Self.maxSteps {
            guard let file = self.file.circuit(name, at: self.now),
                let step = link.next(
                    file, count, at: self.now, serverTime: self.serverClock.time(at: self.now),
                    draw: .random(in: 0..<1))
            else { return }
            switch step {
            case .order(let order, let who, let reason):
                let epoch: Epoch?
                do throws(BreakerStoreError) {
                    epoch = try self.store.obey(order, on: name, ifEpoch: file.epoch, by: who, reason: reason)
                } catch {
                    // This host can't probe for the fleet now, so another host should.
                    self.newTrouble = Trouble(
                        text: "can't apply a command from the other hosts: \(error.message)", code: .unavailable)
                    link.failed(at: self.now)
                    return
                }
                guard let epoch, self.file.refreshCircuit(name, at: self.now) else {
                    // The circuit has changed since it was read: the next turn reads the file first.
                    self.file.setNeedsRead()
                    return
                }
                link.done(order, epoch: epoch, at: self.now)
                if let news = FleetNews(order, on: name, by: who, reason: reason) { self.publish?(news) }
            case .request(let request):
                let outcome: Outcome
                do throws(FleetError) {
                    outcome = try registers.perform(request, on: name)
                } catch {
                    // A refusal that concerns one circuit must not cut off the others.
                    guard registers.connection.isOpen else { throw error }
                    self.newTrouble = Trouble(
                        text: "can't send a change to the server: \(error.message)", code: error.code)
                    link.failed(at: self.now)
                    return
                }
                link.done(request, outcome, file, at: self.now)
                if case .accepted = outcome, let news = FleetNews(request, on: name) { self.publish?(news) }
                if link.needsRead {
                    // This also reads other links' changes so far.
                    guard let register = try registers.read([name]).registers.first else { return }
                    link.learn(register, at: self.now)
                    if register.state == .open { self.mirror.forget(name) }
                }
            }
        }
    }
}
#endif
