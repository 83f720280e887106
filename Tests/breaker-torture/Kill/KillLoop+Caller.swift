import BreakerStore

extension KillLoop {
    /// One thread or task of a worker, which makes one call after the other.
    final class Caller {
        /// The error of a failed call: the file keeps its text.
        struct Told: Error {
            let text: String
        }

        private let worker: Worker
        private let store: CircuitStore
        private let breakers: [CircuitBreaker]
        private let log: CallLog
        private let lane: Int
        private var random: SeededRandom
        /// Permits that are not used yet, with the numbers of their admissions.
        private var permits: [(circuit: Int, admission: Int, permit: CallPermit)] = []

        init(_ worker: Worker, _ lane: Int, _ store: CircuitStore, _ breakers: [CircuitBreaker]) throws {
            self.worker = worker
            self.store = store
            self.breakers = breakers
            self.log = try worker.log(lane)
            self.lane = lane
            self.random = SeededRandom(seed: worker.plan.seed &+ UInt64(lane))
        }

        /// Makes a call, blocking this thread.
        func act() { self.perform(self.choose()) }

        /// Makes a call, suspending this task.
        func actInTask() async { await self.performInTask(self.choose()) }

        // MARK: - Choosing

        struct Call {
            var what: CallLog.What
            var outcome: RecordedOutcome?
            var circuit: Int
            /// How long a hold lasts, in microseconds; 0 for ever.
            var time: Int64 = 0
            var admission = -1
            var permit: CallPermit?
        }

        private func choose() -> Call {
            let circuit = Int.random(in: 0..<Rule.all.count, using: &self.random)
            switch Int.random(in: 0..<100, using: &self.random) {
            case 0..<8: return Call(what: .record, outcome: .success, circuit: circuit)
            case 8..<30: return Call(what: .admit, circuit: circuit)
            case 30..<45:
                if let call = self.usePermit() { return call }
            case 45..<47: return Call(what: .reset, circuit: circuit)
            case 47..<50:
                let what: CallLog.What = Bool.random(using: &self.random) ? .holdOpen : .holdClosed
                let time = Bool.random(using: &self.random) ? 0 : Int64.random(in: 1...3_000, using: &self.random)
                return Call(what: what, circuit: circuit, time: time)
            case 50..<55: return Call(what: .release, circuit: circuit)
            default: break
            }
            return Call(what: .record, outcome: .failure, circuit: circuit)
        }

        private func usePermit() -> Call? {
            guard !self.permits.isEmpty else { return nil }
            let place = Int.random(in: 0..<self.permits.count, using: &self.random)
            let outcomes: [RecordedOutcome] = [.failure, .failure, .success, .success, .ignored]
            return self.use(place, outcomes.randomElement(using: &self.random) ?? .ignored)
        }

        private func use(_ place: Int, _ outcome: RecordedOutcome) -> Call {
            let (circuit, admission, permit) = self.permits.remove(at: place)
            return Call(what: .report, outcome: outcome, circuit: circuit, admission: admission, permit: permit)
        }

        /// Ends all permits, one way or the other.
        func endPermits(_ body: (Call) -> Void) {
            while !self.permits.isEmpty { body(self.use(0, Bool.random(using: &self.random) ? .success : .failure)) }
        }

        // MARK: - Calling

        /// Makes a call, and notes it before and after.
        @discardableResult
        func perform(_ call: Call) -> CallLog.Answer {
            let (number, told) = self.begin(call)
            let breaker = self.breakers[call.circuit]
            var answer = CallLog.Answer.done
            switch (call.what, call.outcome) {
            case (.record, .failure): breaker.recordFailure(told)
            case (.record, _): breaker.recordSuccess()
            case (.report, .failure): call.permit?.fail(told)
            case (.report, .success): call.permit?.succeed()
            case (.report, _): call.permit?.discard()
            case (.admit, _): answer = self.take(call, number, Result { try breaker.admit() })
            case (.register, _), (.reset, _), (.holdOpen, _), (.holdClosed, _), (.release, _), (.probe, _),
                (.forget, _),
                (.look, _), (.permitted, _), (.close, _):
                self.operate(call, number, told.text)
            }
            self.end(call, number, answer)
            return answer
        }

        private func performInTask(_ call: Call) async {
            let (number, told) = self.begin(call)
            let breaker = self.breakers[call.circuit]
            var answer = CallLog.Answer.done
            switch (call.what, call.outcome) {
            case (.record, .failure): await breaker.recordFailure(told)
            case (.record, _): await breaker.recordSuccess()
            case (.report, .failure): await call.permit?.fail(told)
            case (.report, .success): await call.permit?.succeed()
            case (.report, _): call.permit?.discard()
            case (.admit, _):
                do {
                    let permit = try await breaker.admit()
                    answer = self.take(call, number, .success(permit))
                } catch {
                    answer = self.take(call, number, .failure(error))
                }
            case (.register, _), (.reset, _), (.holdOpen, _), (.holdClosed, _), (.release, _), (.probe, _),
                (.forget, _),
                (.look, _), (.permitted, _), (.close, _):
                self.operate(call, number, told.text)
            }
            self.end(call, number, answer)
        }

        private func begin(_ call: Call) -> (number: Int, told: Told) {
            let now = KillLoop.uptime
            let number = self.log.begin(
                CallLog.Record(
                    what: call.what, circuit: call.circuit, argument: call.outcome?.rawValue ?? call.time,
                    admission: call.admission, clock: now...now))
            return (number, Told(text: NotedCall.text(self.worker.process, self.lane, number)))
        }

        private func end(_ call: Call, _ number: Int, _ answer: CallLog.Answer) {
            // Only what returned while the store was healthy is acknowledged.
            var isHealthy = false
            switch self.store.health {
            case .healthy: isHealthy = true
            case .degraded(_, let error): self.worker.complain("\(number) \(call.what): degraded by \(error)")
            case .closed: break
            }
            self.log.end(number, answer, clock: KillLoop.uptime, isHealthy: isHealthy)
        }

        private func take(_ call: Call, _ number: Int, _ admission: Result<CallPermit, any Error>) -> CallLog.Answer {
            switch admission {
            case .success(let permit):
                self.permits.append((call.circuit, number, permit))
                return .ran
            case .failure(let error):
                switch (error as? CircuitOpenError)?.cause {
                case .open: return .open
                case .held: return .held
                case .probing: return .probing
                case nil: return .failed
                }
            }
        }

        private func operate(_ call: Call, _ number: Int, _ who: String) {
            let name = Rule.name(call.circuit)
            let time: Duration? = call.time > 0 ? .microseconds(call.time) : nil
            do throws(BreakerStoreError) {
                switch call.what {
                case .reset: try self.store.reset(name, by: who)
                case .holdOpen: try self.store.hold(name, .open, for: time, by: who)
                case .holdClosed: try self.store.hold(name, .closed, for: time, by: who)
                case .release: try self.store.release(name, by: who)
                case .register, .admit, .report, .record, .probe, .forget, .look, .permitted, .close: break
                }
            } catch {
                // Another thread of this process may have closed the store.
                if error.code != .closed { self.worker.complain("\(number) \(call.what): \(error)") }
            }
        }
    }
}
