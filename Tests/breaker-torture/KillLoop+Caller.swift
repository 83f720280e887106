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
        private var random: SeededRandom
        /// Permits that are not used yet, with the numbers of their admissions.
        private var permits: [(circuit: Int, number: Int64, permit: CallPermit)] = []
        private var lastNumber: Int64

        init(_ worker: Worker, _ index: Int, _ store: CircuitStore, _ breakers: [CircuitBreaker]) {
            self.worker = worker
            self.store = store
            self.breakers = breakers
            self.random = SeededRandom(seed: worker.plan.seed &+ UInt64(index))
            self.lastNumber = Int64(index) * 1_000_000
        }

        /// Makes a call, blocking this thread.
        func act() { self.perform(self.choose()) }

        /// Makes a call, suspending this task.
        func actInTask() async { await self.performInTask(self.choose()) }

        // MARK: - Choosing

        struct Call {
            var verb: Verb
            var circuit: Int
            /// The number of the permit's admission, or how long a hold lasts.
            var detail: Int64 = 0
            var permit: CallPermit?
        }

        private func choose() -> Call {
            let circuit = Int.random(in: 0..<Rule.all.count, using: &self.random)
            switch Int.random(in: 0..<100, using: &self.random) {
            case 0..<8: return Call(verb: .success, circuit: circuit)
            case 8..<30: return Call(verb: .admission, circuit: circuit)
            case 30..<45:
                if let call = self.usePermit() { return call }
            case 45..<47: return Call(verb: .reset, circuit: circuit)
            case 47..<50:
                let verb: Verb = Bool.random(using: &self.random) ? .holdOpen : .holdClosed
                let time = Bool.random(using: &self.random) ? 0 : Int64.random(in: 1...3_000, using: &self.random)
                return Call(verb: verb, circuit: circuit, detail: time)
            case 50..<55: return Call(verb: .release, circuit: circuit)
            default: break
            }
            return Call(verb: .failure, circuit: circuit)
        }

        private func usePermit() -> Call? {
            guard !self.permits.isEmpty else { return nil }
            let place = Int.random(in: 0..<self.permits.count, using: &self.random)
            let verbs: [Verb] = [.permitFailure, .permitFailure, .permitSuccess, .permitSuccess, .permitDiscard]
            return self.use(place, verbs.randomElement(using: &self.random) ?? .permitDiscard)
        }

        private func use(_ place: Int, _ verb: Verb) -> Call {
            let (circuit, number, permit) = self.permits.remove(at: place)
            return Call(verb: verb, circuit: circuit, detail: number, permit: permit)
        }

        /// Ends all permits, one way or the other.
        func endPermits(_ body: (Call) -> Void) {
            while !self.permits.isEmpty {
                body(self.use(0, Bool.random(using: &self.random) ? .permitSuccess : .permitFailure))
            }
        }

        // MARK: - Calling

        /// Makes a call, and says so before and after.
        @discardableResult
        func perform(_ call: Call) -> Outcome {
            let told = self.begin(call)
            let breaker = self.breakers[call.circuit]
            var outcome = Outcome.done
            switch call.verb {
            case .failure: breaker.recordFailure(told)
            case .success: breaker.recordSuccess()
            case .admission: outcome = self.take(call, Result { try breaker.admit() })
            case .permitFailure: call.permit?.fail(told)
            case .permitSuccess: call.permit?.succeed()
            case .permitDiscard: call.permit?.discard()
            case .reset, .holdOpen, .holdClosed, .release: self.operate(call, told.text)
            }
            self.end(call, outcome)
            return outcome
        }

        private func performInTask(_ call: Call) async {
            let told = self.begin(call)
            let breaker = self.breakers[call.circuit]
            var outcome = Outcome.done
            switch call.verb {
            case .failure: await breaker.recordFailure(told)
            case .success: await breaker.recordSuccess()
            case .admission:
                do {
                    let permit = try await breaker.admit()
                    outcome = self.take(call, .success(permit))
                } catch {
                    outcome = self.take(call, .failure(error))
                }
            case .permitFailure: await call.permit?.fail(told)
            case .permitSuccess: await call.permit?.succeed()
            case .permitDiscard: call.permit?.discard()
            case .reset, .holdOpen, .holdClosed, .release: self.operate(call, told.text)
            }
            self.end(call, outcome)
        }

        private func begin(_ call: Call) -> Told {
            self.lastNumber += 1
            Note(.began, self.lastNumber, what: call.verb.rawValue << 8 | Int64(call.circuit), detail: call.detail)
                .write(to: self.worker.pipe)
            return Told(text: "\(self.worker.process).\(self.lastNumber)")
        }

        private func end(_ call: Call, _ outcome: Outcome) {
            // Only what returned while the store was healthy is acknowledged.
            var isHealthy = false
            switch self.store.health {
            case .healthy: isHealthy = true
            case .degraded(_, let error): self.worker.complain("\(self.lastNumber) \(call.verb): degraded by \(error)")
            case .closed: break
            }
            Note(.done, self.lastNumber, what: isHealthy ? 1 : 0, detail: outcome.rawValue).write(to: self.worker.pipe)
        }

        private func take(_ call: Call, _ admission: Result<CallPermit, any Error>) -> Outcome {
            switch admission {
            case .success(let permit):
                self.permits.append((call.circuit, self.lastNumber, permit))
                return .done
            case .failure(let error):
                return (error as? CircuitOpenError)?.cause == .probing ? .refusedAsProbing : .refused
            }
        }

        private func operate(_ call: Call, _ who: String) {
            let name = Rule.name(call.circuit)
            let time: Duration? = call.detail > 0 ? .microseconds(call.detail) : nil
            do throws(BreakerStoreError) {
                switch call.verb {
                case .reset: try self.store.reset(name, by: who)
                case .holdOpen: try self.store.hold(name, .open, for: time, by: who)
                case .holdClosed: try self.store.hold(name, .closed, for: time, by: who)
                case .release: try self.store.release(name, by: who)
                case .failure, .success, .admission, .permitFailure, .permitSuccess, .permitDiscard: break
                }
            } catch {
                // Another thread of this process may have closed the store.
                if error.code != .closed { self.worker.complain("\(self.lastNumber) \(call.verb): \(error)") }
            }
        }
    }
}
