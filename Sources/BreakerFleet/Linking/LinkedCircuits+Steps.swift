#if PostgreSQL
import BreakerStore

/// The steps of one circuit in one turn.
extension LinkedCircuits {
    func decide(_ name: String, _ count: Count?, _ registers: Registers) throws(FleetError) {
        guard var link = self.links[name] else { return }
        defer { self.links[name] = link }
        for _ in 0..<Self.mostSteps {
            guard let file = self.file.circuit(name, at: self.now),
                let step = link.next(
                    file, count, at: self.now, serverTime: self.serverClock.time(at: self.now),
                    draw: .random(in: 0..<1))
            else { return }
            switch step {
            case .order(let order, let who, let reason):
                let epoch: Int64?
                do throws(BreakerStoreError) {
                    epoch = try self.store.obey(order, on: name, ifEpoch: file.epoch, by: who, reason: reason)
                } catch {
                    // The host guards itself; meanwhile another host should probe.
                    self.newTrouble = Trouble(text: "does not obey: \(error.message)", code: .unavailable)
                    link.failed(at: self.now)
                    return
                }
                guard let epoch, self.file.lookAgain(at: name, at: self.now) else {
                    // The file has moved on: the next turn looks at it first.
                    self.file.doubt()
                    return
                }
                link.done(order, epoch: epoch, at: self.now)
                if let news = FleetNews(order, on: name, by: who, reason: reason) { self.tell?(news) }
            case .request(let request):
                let outcome: Outcome
                do throws(FleetError) {
                    outcome = try registers.perform(request, on: name)
                } catch {
                    // A refusal for one circuit must not cut the others off.
                    guard registers.connection.isOpen else { throw error }
                    self.newTrouble = Trouble(text: "does not tell: \(error.message)", code: error.code)
                    link.failed(at: self.now)
                    return
                }
                link.done(request, outcome, file, at: self.now)
                if case .accepted = outcome, let news = FleetNews(request, on: name) { self.tell?(news) }
                if link.needsRead {
                    // This also reads what other links have changed until now.
                    guard let register = try registers.read([name]).registers.first else { return }
                    link.learn(register, at: self.now)
                    if register.state == .open { self.mirror.forget(name) }
                }
            }
        }
    }
}
#endif
