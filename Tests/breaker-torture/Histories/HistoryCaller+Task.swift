import BreakerStore

/// The calls that a task makes.
extension HistoryCaller {
    mutating func perform(_ act: HistoryAct) async {
        switch act {
        case .admit(let circuit):
            if self.repeatsRefusal(circuit) { return }
            let begun = self.begin(.admit, circuit)
            do throws(CircuitOpenError) {
                self.admitted(begun, circuit, try await self.breakers[circuit].admit())
            } catch {
                self.refused(begun, circuit, error)
            }
        case .run(let circuit, let outcome):
            let admission = self.begin(.admit, circuit)
            var report: Begun?
            do {
                try await self.breakers[circuit].run { () async throws in
                    self.end(admission, .ran)
                    report = self.begin(.report, circuit, argument: outcome.rawValue, admission: admission.number)
                    await Task.yield()
                    try outcome.perform()
                }
            } catch let error as CircuitOpenError {
                return self.refused(admission, circuit, error)
            } catch {}
            if let report { self.end(report, .done) }
        case .report(let place, let outcome, let isLater) where !isLater && outcome != .ignored:
            let held = self.permits.remove(at: place)
            let begun = self.begin(
                .report, held.circuit, argument: outcome.rawValue, admission: held.admission)
            if !self.reportsWrongly(held.circuit, held.permit, outcome) {
                if outcome == .success { await held.permit.succeed() } else { await held.permit.fail(Bad()) }
            }
            self.end(begun, .done)
        case .record(let circuit, let outcome):
            let begun = self.begin(.record, circuit, argument: outcome.rawValue)
            switch outcome {
            case .success: await self.breakers[circuit].recordSuccess()
            case .failure: if !self.losesFailure() { await self.breakers[circuit].recordFailure(Bad()) }
            case .ignored: await self.breakers[circuit].recordFailure(Ignored())
            }
            self.end(begun, .done)
        case .look(let circuit):
            if self.repeatsLook(circuit) { return }
            let begun = self.begin(.look, circuit)
            do throws(BreakerStoreError) {
                self.looked(begun, circuit, try await self.store.circuit(named: self.breakers[circuit].name))
            } catch {
                self.end(begun, .failed)
            }
        // What waits for nothing, and what an operator says, is the same.
        case .report, .operate, .ask, .restart: self.performAtOnce(act)
        }
    }

    mutating func performAtOnce(_ act: HistoryAct) { self.perform(act) }
}
